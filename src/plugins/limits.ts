/** The limits of a mount: calls, streams, simultaneous requests and bodies of a client, unread answers, and what JSON may contain. */
import { isUtf8 } from 'node:buffer';
import type { ServerResponse } from 'node:http';
import { Transform } from 'node:stream';
import type {
  FastifyInstance,
  FastifyReply,
  FastifyRequest,
  preParsingHookHandler,
  RequestPayload,
  RouteOptions,
} from 'fastify';
import fp from 'fastify-plugin';
import { LRUCache } from 'lru-cache';
import type { Pool } from '../database/pool.ts';
import { JsonCounter, UntrustedJsonError } from '../lib/json/parse-untrusted.ts';
import { Problem } from '../lib/problem.ts';
import { createKeyedSemaphore } from '../lib/scheduling.ts';
import { requestClosedSignal } from './connections.ts';
import { illFormedTexts, invalidRequest } from './faults.ts';
import { clientKey, hasOtherCharset } from './headers.ts';
import { platformProblems } from './problems.ts';

declare module 'fastify' {
  interface FastifyRequest {
    rateCounter?: ReturnType<typeof createRateCounter>;
    /** The work of the handler, once begun, if something is held until it ends. */
    handling?: Promise<unknown>;
  }
}

const WINDOW_MS = 60_000;
/** Memory for counters, keys included: about ten thousand clients. The least recently seen is dropped first. */
const REMEMBERED_BYTES = 2 * 1024 * 1024;
const ENTRY_BYTES = 128;

/** Counts the calls of each client of a mount in windows of a minute. @param max calls per minute */
export function createRateCounter(max: number) {
  const windows = new LRUCache<string, { calls: number; readonly endsAt: number }>({
    maxSize: REMEMBERED_BYTES,
    sizeCalculation: (_window, key) => 2 * key.length + ENTRY_BYTES,
  });
  return (client: string, reply: FastifyReply, isPublic: boolean): void => {
    const now = Date.now();
    const known = windows.get(client);
    const window = known !== undefined && known.endsAt > now ? known : { calls: 0, endsAt: now + WINDOW_MS };
    if (window !== known) windows.set(client, window);
    window.calls += 1;
    const isOver = window.calls > max;
    // A shared cache would give one client's count to all.
    if (isPublic && !isOver) return;
    const secondsLeft = String(Math.ceil((window.endsAt - now) / 1000));
    reply.headers({
      'x-ratelimit-limit': String(max),
      'x-ratelimit-remaining': String(Math.max(0, max - window.calls)),
      'x-ratelimit-reset': secondsLeft,
    });
    if (isOver) throw new Problem(platformProblems.rateLimit, { headers: { 'retry-after': secondsLeft } });
  };
}

/**
 * Counts a call of its client: on a public or unknown route before any work is done, elsewhere once the token was verified or refused, so that
 * clients behind the same proxy do not use up each other's calls. @throws {Problem} `rate-limit`
 */
export function countCall(request: FastifyRequest, reply: FastifyReply, isPublic = false): void {
  request.rateCounter?.(clientKey(request), reply, isPublic);
}

/** Counts the open streams of a client. @param max 0: no limit. @returns counts one until it ends, or throws the problem `rate-limit` */
export function createOpenCounter(max: number): (client: string, request: FastifyRequest) => void {
  const counts = new Map<string, number>();
  return (client, request) => {
    const before = counts.get(client) ?? 0;
    if (max > 0 && before >= max) {
      throw new Problem(platformProblems.rateLimit, {
        detail: 'Er staan vanaf dit adres te veel verbindingen open.',
        headers: { 'retry-after': '30' },
      });
    }
    counts.set(client, before + 1);
    request.onClosed(() => {
      const left = (counts.get(client) ?? 1) - 1;
      if (left === 0) counts.delete(client);
      else counts.set(client, left);
    });
  };
}

/** Limits the routes that are registered on the mount after the call. */
export type LimitMount = (app: FastifyInstance) => void;

interface ClientShareOptions {
  readonly pool: Pool;
  readonly uses?: (method: string) => boolean;
  readonly waitMs: number;
}

/** How many requests of a client may wait per running one. They wait before their bodies are read. */
const WAITING_PER_REQUEST = 100;

/**
 * Lets one client use three quarters of the connections of a pool, so that it cannot keep the others of an area from the database. More of its
 * requests wait, and get 503 when they wait too long or too many do. Mounts that are limited by the same function share the count.
 */
export function createClientShare({ pool, uses = () => true, waitMs }: ClientShareOptions): LimitMount {
  const { max } = pool.options;
  const running = Math.max(1, max - Math.max(1, Math.floor(max / 4)));
  // One for each client, so that requests waiting for others cost a request nothing.
  const acquire = createKeyedSemaphore({
    maxWeight: running,
    maxWaiting: running * WAITING_PER_REQUEST,
    waitMs,
    full: busy,
  });
  /** After `onRequest`, where the token is verified, and before the body is read. */
  const acquireShare = async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    const { caller } = request;
    if (caller === undefined) return;
    const closed = requestClosedSignal(reply);
    const permit = await acquire(caller.subject, closed).catch(() => undefined);
    // Waited too long, or the client disconnected meanwhile.
    if (permit === undefined) throw busy();
    releaseAfter(request, permit.release);
    if (closed.aborted) throw busy();
  };
  return (app) => holdBeforeBody(app, uses, acquireShare);
}

/** Adds a step before the body is read to the routes with such a method. What it holds, it releases with `releaseAfter`. */
function holdBeforeBody(
  app: FastifyInstance,
  isWanted: (method: string) => boolean,
  step: preParsingHookHandler | ((request: FastifyRequest, reply: FastifyReply) => Promise<void>),
): void {
  app.addHook('onRoute', (route) => {
    if (![route.method].flat().some(isWanted)) return;
    route.preParsing = [...[route.preParsing ?? []].flat(), step];
    trackHandling(route);
  });
}

const trackedHandlers = new WeakSet<RouteOptions['handler']>();

/** Lets `request.handling` end with the handler, which a client that hangs up does not stop, and which still uses what the request holds. */
function trackHandling(route: RouteOptions): void {
  const { handler } = route;
  if (trackedHandlers.has(handler)) return;
  route.handler = function tracked(request, reply) {
    const work = handler.call(this, request, reply);
    request.handling = Promise.resolve(work).catch(() => undefined);
    return work;
  };
  trackedHandlers.add(route.handler);
}

/** Releases the resources of a request when its exchange and its handler have both ended: disconnecting frees no slot. */
function releaseAfter(request: FastifyRequest, release: () => void): void {
  request.onClosed(() => {
    if (request.handling === undefined) release();
    else void request.handling.then(release);
  });
}

function busy(): Problem {
  return new Problem(platformProblems.unavailable, { headers: { 'retry-after': '5' } });
}

/** The share of the budget for bodies that one client may hold, and the memory of a request beside its body. */
const BODY_SHARE = 1 / 2;
const REQUEST_BYTES = 1024;
/** A body of at most this many bytes counts from the beginning by its announced length, which is less than its connection takes. */
const SMALL_BODY_BYTES = 4096;

/** By its `Content-Length`, before the token is checked or anything reads it: Node then discards it, and keeps the connection. @throws {Problem} */
export function checkAnnouncedBody(request: FastifyRequest): void {
  if (!request.is404 && announcedBytes(request) > (request.routeOptions.bodyLimit ?? Number.POSITIVE_INFINITY)) {
    throw new Problem(platformProblems.bodyTooLarge);
  }
}

function announcedBytes({ headers }: FastifyRequest): number {
  return Number(headers['content-length'] ?? 0) || 0;
}

/**
 * Refuses a body that does not fit in the budget beside those in progress, as a parsed body is many times as large; one that is alone is admitted.
 * @param maxBytes of all bodies in progress on the routes that are registered after this
 */
export function limitBodies(app: FastifyInstance, maxBytes: number): void {
  const ofClients = new Map<string, number>();
  let used = 0;
  const countBody: preParsingHookHandler = (request, _reply, payload, done) => {
    const announced = request.headers['transfer-encoding'] === undefined ? announcedBytes(request) : undefined;
    if (announced === 0) return done(null, payload);
    const client = clientKey(request);
    let taken = 0;
    let isReleased = false;
    const add = (bytes: number): void => {
      const sum = (ofClients.get(client) ?? 0) + bytes;
      taken += bytes;
      used += bytes;
      if (sum > 0) ofClients.set(client, sum);
      else ofClients.delete(client);
    };
    const acquire = (bytes: number): void => {
      // After the answer, the rest of a refused body is discarded and not counted.
      if (isReleased) return;
      const ofClient = ofClients.get(client) ?? 0;
      const headers = { 'retry-after': '1' };
      if (ofClient > taken && ofClient + bytes > maxBytes * BODY_SHARE) {
        const detail = 'Er zijn te veel grote verzoeken tegelijk; wacht op de antwoorden.';
        throw new Problem(platformProblems.rateLimit, { detail, headers });
      }
      if (used > taken && used + bytes > maxBytes) throw new Problem(platformProblems.unavailable, { headers });
      add(bytes);
    };
    releaseAfter(request, () => {
      isReleased = true;
      add(-taken);
    });
    const isSmall = announced !== undefined && announced <= SMALL_BODY_BYTES;
    acquire(isSmall ? REQUEST_BYTES + announced : REQUEST_BYTES);
    return done(null, isSmall ? payload : metered(payload, acquire));
  };
  // No body of these is parsed.
  holdBeforeBody(app, (method) => method !== 'GET' && method !== 'HEAD', countBody);
}

/** Counts bytes as they arrive: by announced lengths, silent connections could exhaust the budget. A refusal keeps the connection for its answer. */
function metered(payload: RequestPayload, acquire: (bytes: number) => void): RequestPayload {
  const meter = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      try {
        acquire(chunk.length);
        done(null, chunk);
      } catch (error) {
        done(error instanceof Error ? error : new Error(String(error)));
      }
    },
  });
  // Discards the rest: otherwise the next request on the connection would never be read.
  meter.once('error', () => payload.resume());
  payload.on('error', (error) => meter.destroy(error));
  // It failed before it was read, so the event has passed.
  if (payload.errored) meter.destroy(payload.errored);
  return payload.pipe(meter);
}

/** Smaller answers go straight to the operating system. */
const SMALL_BYTES = 16_384;

/**
 * Limits the bytes of complete answers that are not read yet: one connection can request hundreds by pipelining and read none. When they are used up,
 * the oldest answers of the client that leaves most unread are cut, so that nobody loses an answer because of another client.
 */
export function limitUnreadAnswers(app: FastifyInstance, maxBytes: number): void {
  // Oldest first.
  const unread = new Map<ServerResponse, { readonly client: string; readonly bytes: number }>();
  let total = 0;
  const forget = (response: ServerResponse): void => {
    total -= unread.get(response)?.bytes ?? 0;
    unread.delete(response);
  };
  app.addHook('onSend', (request, { raw }, payload, done) => {
    const bytes = typeof payload === 'string' || Buffer.isBuffer(payload) ? Buffer.byteLength(payload) : 0;
    if (bytes >= SMALL_BYTES && !raw.destroyed) {
      const client = clientKey(request);
      if (total + bytes > maxBytes) {
        const held = new Map([[client, bytes]]);
        for (const one of unread.values()) held.set(one.client, (held.get(one.client) ?? 0) + one.bytes);
        for (const [most] of [...held].toSorted(([, a], [, b]) => b - a)) {
          for (const [response, one] of unread) {
            if (one.client !== most || total + bytes <= maxBytes) continue;
            forget(response);
            response.destroy();
          }
        }
      }
      unread.set(raw, { client, bytes });
      total += bytes;
      request.onClosed(() => forget(raw));
    }
    done(null, payload);
  });
}

/** Members of an object in a body; no contract names a tenth of that. */
export const OBJECT_MEMBERS = 1000;
/** A smaller body cannot hold enough to matter. */
const COUNTED_BYTES = 16_384;
const TOO_MANY_MEMBERS = {
  name: '',
  code: 'maxProperties',
  reason: `een object in de inhoud heeft meer dan ${OBJECT_MEMBERS} leden`,
};

/** In the largest body nothing else needs a limit: its costliest shape takes less than 100 MB once parsed. Ignored members may have any shape. */
const BODY_LIMITS = { depth: 600_000, containers: 600_000, objectMembers: OBJECT_MEMBERS };

function excessOf(body: Uint8Array): Problem | undefined {
  if (body.length <= COUNTED_BYTES) return undefined;
  try {
    new JsonCounter({ bytes: body.length, ...BODY_LIMITS }).feed(body);
    return undefined;
  } catch (cause) {
    if (!(cause instanceof UntrustedJsonError)) throw cause;
    if (cause.code === 'too-many-object-members') return invalidRequest([TOO_MANY_MEMBERS]);
    return new Problem(platformProblems.invalidRequest, { detail: 'De inhoud heeft te veel onderdelen.', cause });
  }
}

/** UTF-8 cannot write half a surrogate pair, but JSON can by its escapes. */
const SURROGATE = /\\u[dD][89a-fA-F]/;

/** Reads JSON bodies strictly: UTF-8 or nothing (RFC 8259 8.1), no `__proto__`; every other media type is refused. */
export const jsonBody = fp(
  async (app: FastifyInstance) => {
    const parse = app.getDefaultJsonParser('error', 'error');
    app.removeAllContentTypeParsers();
    app.addContentTypeParser<Buffer>('application/json', { parseAs: 'buffer' }, (request, body, done) => {
      // Many clients send a content type with every request.
      if (body.length === 0 && request.method === 'DELETE') return done(null);
      if (hasOtherCharset(request.headers['content-type'])) {
        return done(new Problem(platformProblems.unsupportedMediaType, { detail: 'De tekenset moet UTF-8 zijn.' }));
      }
      if (!isUtf8(body)) {
        return done(new Problem(platformProblems.invalidRequest, { detail: 'De inhoud is geen geldige UTF-8.' }));
      }
      const excess = excessOf(body);
      if (excess !== undefined) return done(excess);
      const text = body.toString();
      if (!SURROGATE.test(text)) return parse(request, text, done);
      return parse(request, text, (error, value) => {
        const faults = error === null ? illFormedTexts(value) : [];
        const problem = faults.length === 0 ? null : invalidRequest(faults);
        done(error ?? problem, value);
      });
    });
  },
  { name: 'json-body' },
);
