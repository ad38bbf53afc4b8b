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
    if (request.headers['transfer-encoding'] === undefined && announcedBytes(request) === 0) return done(null, payload);
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
      const refused = budget.take(client, bytes, CLIENT_SHARE, taken);
      if (refused !== undefined) throw noRoom(refused);
      taken += bytes;
    };
    request.holdBody = hold;
    // Fires however the exchange ends, also when the client goes away.
    reply.raw.once('close', hold());
    take(REQUEST_BYTES);
    return done(null, metered(payload, take));
  });
}

/**
 * A body takes room as it comes, and not for what it says it will be: else connections that send nothing would keep the bodies of others
 * out. Nothing is read before somebody reads from the result, so that a refusal always has a listener. The request itself is not
 * destroyed by a refusal: the answer goes out on the same connection.
 */
function metered(payload: RequestPayload, take: (bytes: number) => void): RequestPayload {
  let isReading = false;
  const pass = (chunk: Buffer): void => {
    try {
      take(chunk.length);
    } catch (error) {
      stop();
      result.destroy(error instanceof Error ? error : new Error(String(error)));
      return;
    }
    if (!result.push(chunk)) payload.pause();
  };
  const end = (): void => void result.push(null);
  const fail = (error: Error): void => void result.destroy(error);
  const stop = (): void => {
    payload.off('data', pass).off('end', end).off('error', fail);
    // What still comes is thrown away: else the next request on the connection would never be read.
    payload.on('error', () => undefined).resume();
  };
  const result = new Readable({
    read() {
      // It broke off before anybody read it: then it tells of that no more.
      if (payload.errored) return fail(payload.errored);
      if (isReading) return void payload.resume();
      isReading = true;
      payload.on('data', pass).on('end', end).on('error', fail);
    },
  });
  return result;
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
