import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Problem } from '../kernel/problem.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /**
     * Keeps the room of the request's body taken until the function that it returns is called, also when the client goes away before:
     * for work that goes on without it. Absent without a body.
     */
    holdBodyRoom?: () => () => void;
  }
}

export interface BodyRoomOptions {
  /** Bytes of all bodies together that are being received, or worked on. */
  readonly bytes: number;
  readonly full: () => Problem;
}

/**
 * Bounds the bytes of the bodies that a mount takes at once, before any of them is read: what is made of a body while it is read, checked
 * and kept is many times as large. One client has half of the room at most. A body that is alone is always taken.
 */
export function limitBodyRoom(app: FastifyInstance, { bytes: most, full }: BodyRoomOptions): void {
  const taken = new Map<string, number>();
  let all = 0;
  const take = (client: string, bytes: number): void => {
    const after = (taken.get(client) ?? 0) + bytes;
    all += bytes;
    if (after === 0) taken.delete(client);
    else taken.set(client, after);
  };
  app.decorateRequest('holdBodyRoom');
  // After authentication, and before the body.
  app.addHook('preParsing', (request, reply, payload, done) => {
    const bytes = bodyBytes(request);
    if (bytes === 0) return done(null, payload);
    const client = request.caller?.subject ?? request.ip;
    const own = taken.get(client) ?? 0;
    if ((all > 0 && all + bytes > most) || (own > 0 && own + bytes > most / 2)) return done(full());
    take(client, bytes);
    let holders = 0;
    const hold = (): (() => void) => {
      holders += 1;
      return () => {
        holders -= 1;
        if (holders === 0) take(client, -bytes);
      };
    };
    request.holdBodyRoom = hold;
    const release = hold();
    if (reply.raw.destroyed) release();
    else reply.raw.once('close', release);
    return done(null, payload);
  });
}

/** A request takes memory however small its body is. */
const REQUEST_BYTES = 1024;

/** What a request may come to by its body: a body that does not say how long it is may be as long as the limit. */
function bodyBytes({ headers, routeOptions }: FastifyRequest): number {
  if (headers['transfer-encoding'] !== undefined) return REQUEST_BYTES + (routeOptions.bodyLimit ?? 0);
  const length = Number(headers['content-length'] ?? 0);
  return length === 0 ? 0 : REQUEST_BYTES + length;
}
