/** What one client may ask in a minute and hold open, how long a handler may take, and when load is shed. */
import underPressure from '@fastify/under-pressure';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { LRUCache } from 'lru-cache';
import { Problem } from '../kernel/problem.ts';
import { clientAddress } from './client-address.ts';
import { platformProblems } from './problems.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** What counts the calls of the mount; absent where nothing is limited. */
    rateCounter?: RateCounter;
  }
}

const WINDOW_MS = 60_000;

/** Counts the requests per minute of each client of a mount; 0 limits nothing. */
export function createRateCounter(perMinute: number): RateCounter | undefined {
  return perMinute === 0 ? undefined : new RateCounter(perMinute, WINDOW_MS);
}

/**
 * Limits what one client may ask of a mount. A call of a route that anybody may call, or of none, counts under its address before any
 * work is done. One that needs a token is counted by `authenticate`: under the token's subject, or under the address when the token is
 * refused. So nobody uses up the room of somebody else behind the same proxy.
 */
export function limitRate(app: FastifyInstance, counter: RateCounter | undefined): void {
  if (counter === undefined) return;
  app.addHook('onRequest', (request, reply, done) => {
    request.rateCounter = counter;
    if (request.is404 || request.routeOptions.config.public === true) countAddress(request, reply);
    done();
  });
}

/**
 * Counts a call without a valid token under the address that it came from.
 * @throws {Problem} `rate-limit` when that has had its share of the minute
 */
export function countAddress(request: FastifyRequest, reply: FastifyReply): void {
  if (request.rateCounter !== undefined) count(request.rateCounter, `address ${clientAddress(request)}`, reply);
}

/**
 * Counts a call under the subject of its verified token.
 * @throws {Problem} `rate-limit` when that has had its share of the minute
 */
export function countSubject(request: FastifyRequest, reply: FastifyReply, subject: string): void {
  if (request.rateCounter !== undefined) count(request.rateCounter, `subject ${subject}`, reply);
}

function count(counter: RateCounter, key: string, reply: FastifyReply): void {
  const { current, ttl } = counter.hit(key);
  const seconds = String(Math.ceil(ttl / 1000));
  reply.headers({
    'x-ratelimit-limit': String(counter.max),
    'x-ratelimit-remaining': String(Math.max(0, counter.max - current)),
    'x-ratelimit-reset': seconds,
  });
  if (current > counter.max) throw new Problem(platformProblems.rateLimit, { headers: { 'retry-after': seconds } });
}

/** Sheds load while the event loop is later than the given milliseconds; 0 sheds nothing. */
export async function shedLoad(app: FastifyInstance, maxEventLoopDelayMs: number): Promise<void> {
  if (maxEventLoopDelayMs === 0) return;
  await app.register(underPressure, {
    maxEventLoopDelay: maxEventLoopDelayMs,
    sampleInterval: 500,
    pressureHandler: () => {
      throw new Problem(platformProblems.unavailable, { headers: { 'retry-after': '5' } });
    },
  });
}

/** Bytes of clients that are remembered, their names included: about ten thousand of them. The one that called longest ago goes first. */
const REMEMBERED_BYTES = 2 * 1024 * 1024;
/** What an entry takes beside its key. */
const ENTRY_BYTES = 128;

/** How often a client has called in its present window. */
export interface RateCount {
  readonly current: number;
  /** Milliseconds until the window ends. */
  readonly ttl: number;
}

/** Counts calls per client in windows of fixed length. */
export class RateCounter {
  readonly max: number;
  readonly #windowMs: number;
  readonly #windows = new LRUCache<string, { count: number; readonly endsAt: number }>({
    maxSize: REMEMBERED_BYTES,
    sizeCalculation: (_window, key) => 2 * key.length + ENTRY_BYTES,
  });

  /** @param max calls per window */
  constructor(max: number, windowMs: number) {
    this.max = max;
    this.#windowMs = windowMs;
  }

  /** Counts a call. */
  hit(key: string): RateCount {
    const now = Date.now();
    const known = this.#windows.get(key);
    if (known !== undefined && known.endsAt > now) {
      known.count += 1;
      return { current: known.count, ttl: known.endsAt - now };
    }
    this.#windows.set(key, { count: 1, endsAt: now + this.#windowMs });
    return { current: 1, ttl: this.#windowMs };
  }
}

/** Counts the exchanges of each client that are open: for answers that last, which a limit per minute does not bound. */
export interface OpenCounter {
  /**
   * Counts an exchange until it has ended, however it ends.
   * @throws {Problem} `rate-limit` when the client has as many open as it may
   */
  open(client: string, reply: FastifyReply): void;
}

/** @param max exchanges per client; 0 limits nothing */
export function createOpenCounter(max: number): OpenCounter {
  const counts = new Map<string, number>();
  return {
    open(client, { raw }) {
      const before = counts.get(client) ?? 0;
      if (max > 0 && before >= max) {
        throw new Problem(platformProblems.rateLimit, {
          detail: 'Er staan vanaf dit adres te veel verbindingen open.',
          headers: { 'retry-after': '30' },
        });
      }
      // The end of an exchange whose client has gone already is never told again.
      if (raw.destroyed) return;
      counts.set(client, before + 1);
      raw.once('close', () => {
        const left = (counts.get(client) ?? 1) - 1;
        if (left === 0) counts.delete(client);
        else counts.set(client, left);
      });
    },
  };
}

/**
 * Answers 503 for a handler that has not begun its answer within the given milliseconds. Fastify's `handlerTimeout` makes a
 * signal and an exception with its stack for every request beside the timer, which more than doubles what a small request costs, and
 * forgets its timer once the body has been read. Node keeps timers of one duration in a list, so that each costs next to nothing.
 */
export function limitAnswerTime(app: FastifyInstance, milliseconds: number): void {
  app.addHook('onRequest', (_request, reply, done) => {
    const timer = setTimeout(answerLate, milliseconds, reply).unref();
    // Fires however the exchange ends, also when the client goes away.
    reply.raw.once('close', () => clearTimeout(timer));
    done();
  });
}

function answerLate(reply: FastifyReply): void {
  // What is being sent may take as long as its reader keeps taking it; that is the connection's own limit.
  if (reply.sent || reply.raw.headersSent) return;
  const cause = new Error('the handler did not answer in time');
  reply.send(new Problem(platformProblems.unavailable, { headers: { 'retry-after': '5' }, cause }));
}
