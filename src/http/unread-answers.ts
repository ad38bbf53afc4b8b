import type { ServerResponse } from 'node:http';
import type { FastifyInstance } from 'fastify';
import { Problem } from '../kernel/problem.ts';
import { ByteBudget } from './byte-budget.ts';
import { clientKey } from './client-address.ts';
import { platformProblems } from './problems.ts';

/** Smaller answers are with the operating system at once. */
const SMALL_BYTES = 16_384;

/** Who has left an answer unread for so long is not reading; before that a client with many connections may be fast. */
const NOT_READING_MS = 1000;

interface Unread {
  readonly client: string;
  readonly since: number;
  readonly forget: () => void;
}

/**
 * Bounds the bytes of whole answers that their readers have not taken: one connection can ask for hundreds (pipelining) and read none.
 * A client that does not read gets 429 once it has its share; when all together have too much, who has been reading longest is cut off.
 * Answers that are streamed bound themselves.
 * @param maxBytes of all unread answers of this scope together
 */
export function limitUnreadAnswers(app: FastifyInstance, maxBytes: number): void {
  const budget = new ByteBudget(maxBytes);
  // The one that has waited longest first.
  const unread = new Map<ServerResponse, Unread>();

  const isReading = (client: string): boolean => {
    for (const one of unread.values()) {
      if (one.client === client) return performance.now() - one.since < NOT_READING_MS;
    }
    return true;
  };
  /** @returns false when the client has its share */
  const take = (client: string, bytes: number): boolean => {
    const refused = budget.take(client, bytes);
    if (refused === undefined) return true;
    if (refused === 'client' && !isReading(client)) return false;
    for (const [oldest, { forget }] of unread) {
      if (budget.take(client, bytes, 1) === undefined) return true;
      forget();
      oldest.destroy();
    }
    return budget.take(client, bytes, 1) === undefined;
  };

  app.addHook('onSend', (request, reply, payload, done) => {
    const { raw } = reply;
    const bytes = typeof payload === 'string' || Buffer.isBuffer(payload) ? Buffer.byteLength(payload) : 0;
    if (bytes < SMALL_BYTES || raw.destroyed) return done(null, payload);
    const client = clientKey(request);
    if (!take(client, bytes)) return done(tooMuchUnread());
    const forget = (): void => {
      if (unread.delete(raw)) budget.give(client, bytes);
    };
    unread.set(raw, { client, since: performance.now(), forget });
    raw.once('close', forget);
    return done(null, payload);
  });
}

function tooMuchUnread(): Problem {
  return new Problem(platformProblems.rateLimit, {
    detail: 'Er zijn te veel antwoorden gevraagd die nog niet gelezen zijn.',
    headers: { 'retry-after': '1' },
  });
}
