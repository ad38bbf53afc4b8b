/** How much of request bodies is taken: of one, of one client, and of all together. */
import { Transform } from 'node:stream';
import type { FastifyInstance, FastifyRequest, RequestPayload } from 'fastify';
import { Problem } from '../kernel/problem.ts';
import { ByteBudget } from './byte-budget.ts';
import { clientKey } from './client-address.ts';
import { platformProblems } from './problems.ts';

/**
 * Refuses a body that says beforehand that it is larger than the limit (before the token is looked at, which costs more), and one for
 * which there is no room beside those that are being read or worked on.
 * @param maxBytes of all bodies of this scope together
 */
export function limitBodies(app: FastifyInstance, maxBytes: number): void {
  const budget = new ByteBudget(maxBytes);
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
    let held = 0;
    let ended = false;
    const take = (bytes: number): void => {
      // What still comes after the answer (a body that was refused half-way) is thrown away unread.
      if (ended) return;
      const refused = budget.take(client, bytes);
      if (refused !== undefined) throw noRoom(refused);
      held += bytes;
    };
    // Fires however the exchange ends, also when the client goes away.
    reply.raw.once('close', () => {
      ended = true;
      budget.give(client, held);
    });
    take(announced);
    return done(null, isChunked ? metered(payload, take) : payload);
  });
}

/** A body of unknown length takes room as it comes. */
function metered(payload: RequestPayload, take: (bytes: number) => void): RequestPayload {
  const meter = new Transform({
    transform(chunk: Buffer, _encoding, callback) {
      try {
        take(chunk.length);
      } catch (error) {
        return callback(error instanceof Error ? error : new Error('no room'));
      }
      return callback(null, chunk);
    },
  });
  // Not `pipeline`: that would destroy the request together with the meter, and with it the connection that the answer goes out on.
  payload.once('error', (error) => meter.destroy(error));
  return payload.pipe(meter);
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
