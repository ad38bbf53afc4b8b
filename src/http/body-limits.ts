/** How much of request bodies is taken: of one, of one client, and of all together. */
import { Readable } from 'node:stream';
import type { FastifyInstance, FastifyRequest, RequestPayload } from 'fastify';
import { Problem } from '../kernel/problem.ts';
import { ByteBudget } from './byte-budget.ts';
import { clientKey } from './client-address.ts';
import { platformProblems } from './problems.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /**
     * Keeps the room of the request's body taken until the function that it returns is called, also when the client goes away before:
     * for work that goes on without it. Absent without a body.
     */
    holdBody?: () => () => void;
  }
}

/** One client may hold half of what all may. */
const CLIENT_SHARE = 1 / 2;

/** What a request takes in memory besides its body, however small that is. */
const REQUEST_BYTES = 1024;

/**
 * Refuses a body that says beforehand that it is larger than the limit (before the token is looked at, which costs more), and one for
 * which there is no room beside those that are being read or worked on: what is made of a body is many times as large.
 * @param maxBytes of all bodies of this scope together
 */
export function limitBodies(app: FastifyInstance, maxBytes: number): void {
  const budget = new ByteBudget(maxBytes);
  app.decorateRequest('holdBody');
  app.addHook('onRequest', (request, _reply, done) => {
    if (!request.is404 && announcedBytes(request) > (request.routeOptions.bodyLimit ?? Number.POSITIVE_INFINITY)) {
      throw new Problem(platformProblems.bodyTooLarge);
    }
    done();
  });
  app.addHook('preParsing', (request, reply, payload, done) => {
    const isChunked = request.headers['transfer-encoding'] !== undefined;
    const announced = announcedBytes(request);
    if (!isChunked && announced === 0) return done(null, payload);
    // To who has gone the end of the exchange is never told again, and nothing more is read for them.
    if (reply.raw.destroyed) return done(null, payload);
    const client = clientKey(request);
    let taken = 0;
    let holders = 0;
    const hold = (): (() => void) => {
      holders += 1;
      return () => {
        holders -= 1;
        if (holders === 0) budget.give(client, taken);
      };
    };
    const take = (bytes: number): void => {
      // What still comes after the answer (a body that was refused half-way) is thrown away unread.
      if (holders === 0) return;
      const refused = budget.take(client, bytes, CLIENT_SHARE);
      if (refused !== undefined) throw noRoom(refused);
      taken += bytes;
    };
    request.holdBody = hold;
    // Fires however the exchange ends, also when the client goes away.
    reply.raw.once('close', hold());
    take(REQUEST_BYTES + announced);
    return done(null, isChunked ? metered(payload, take) : payload);
  });
}

/**
 * A body of unknown length takes room as it comes. Nothing is read before somebody reads from the result, so that a refusal always has
 * a listener. The request itself is not destroyed by a refusal: the answer goes out on the same connection.
 */
function metered(payload: RequestPayload, take: (bytes: number) => void): RequestPayload {
  async function* counted(): AsyncGenerator<Buffer> {
    for await (const chunk of payload.iterator({ destroyOnReturn: false })) {
      take(chunk.length);
      yield chunk;
    }
  }
  return Readable.from(counted(), { objectMode: false });
}

function announcedBytes({ headers }: FastifyRequest): number {
  return Number(headers['content-length'] ?? 0) || 0;
}

function noRoom(refused: 'client' | 'all'): Problem {
  const headers = { 'retry-after': '1' };
  if (refused === 'all') return new Problem(platformProblems.unavailable, { headers });
  return new Problem(platformProblems.rateLimit, {
    detail: 'Er zijn te veel grote verzoeken tegelijk; wacht op de antwoorden.',
    headers,
  });
}
