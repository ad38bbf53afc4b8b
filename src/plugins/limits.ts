/** Limits: calls per minute, open exchanges and database work of one client; time of a handler; load of the process. */

import { isIPv4, isIPv6 } from 'node:net';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import ipaddr from 'ipaddr.js';
import { LRUCache } from 'lru-cache';
import type { Pool } from '../database/pool.ts';
import { Problem } from '../lib/problem.ts';
import { createSemaphore, type Semaphore } from '../lib/scheduling.ts';
import { requestClosedSignal } from './connections.ts';
import { platformProblems } from './problems.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Counts the calls of the mount; absent where nothing is limited. */
    rateCounter?: RateCounter;
    /** Keeps the request counted in its client's share until the returned function is called. Absent where nothing is shared. */
    holdShare?: () => () => void;
  }
}

const WINDOW_MS = 60_000;

/** Counts the requests per minute of each client of a mount; 0 limits nothing. */
export function createRateCounter(perMinute: number): RateCounter | undefined {
  return perMinute === 0 ? undefined : new RateCounter(perMinute, WINDOW_MS);
}

/**
 * Counts a call under its address before any work is done, when it is to a public or unknown route. A call that needs a token is counted by
 * `authenticate`: under the token's subject, or under the address when the token is refused. So clients behind the same proxy do not use up
 * each other's calls. A public answer says what is left only when nothing is: a shared cache would give one client's count to all.
 * @throws {Problem} `rate-limit` when the address has no calls left this minute
 */
export function limitRate(request: FastifyRequest, reply: FastifyReply, counter: RateCounter | undefined): void {
  if (counter === undefined) return;
  request.rateCounter = counter;
  if (!request.is404 && request.routeOptions.config.public !== true) return;
  const found = counter.hit(addressKey(request));
  if (found.current > counter.max) refuse(counter, found, reply);
}

/**
 * Counts a call without a valid token under its address.
 * @throws {Problem} `rate-limit` when that has no calls left this minute
 */
export function countAddress(request: FastifyRequest, reply: FastifyReply): void {
  if (request.rateCounter !== undefined) count(request.rateCounter, addressKey(request), reply);
}

function addressKey(request: FastifyRequest): string {
  return `address ${clientAddress(request)}`;
}

/**
 * Counts a call under the subject of its verified token.
 * @throws {Problem} `rate-limit` when that has no calls left this minute
 */
export function countSubject(request: FastifyRequest, reply: FastifyReply, subject: string): void {
  if (request.rateCounter !== undefined) count(request.rateCounter, `subject ${subject}`, reply);
}

function count(counter: RateCounter, key: string, reply: FastifyReply): void {
  const found = counter.hit(key);
  if (found.current > counter.max) refuse(counter, found, reply);
  sayWhatIsLeft(counter, found, reply);
}

function refuse(counter: RateCounter, found: RateCount, reply: FastifyReply): never {
  sayWhatIsLeft(counter, found, reply);
  throw new Problem(platformProblems.rateLimit, { headers: { 'retry-after': secondsLeft(found) } });
}

function sayWhatIsLeft({ max }: RateCounter, found: RateCount, reply: FastifyReply): void {
  reply.headers({
    'x-ratelimit-limit': String(max),
    'x-ratelimit-remaining': String(Math.max(0, max - found.current)),
    'x-ratelimit-reset': secondsLeft(found),
  });
}

function secondsLeft({ ttl }: RateCount): string {
  return String(Math.ceil(ttl / 1000));
}

/** Memory for counters, keys included: about ten thousand clients. The least recently seen is dropped first. */
const REMEMBERED_BYTES = 2 * 1024 * 1024;
/** Size of an entry without its key. */
const ENTRY_BYTES = 128;

/** How often a client has called in its current window. */
interface RateCount {
  readonly current: number;
  /** Milliseconds until the window ends. */
  readonly ttl: number;
}

/** Counts calls per client in windows of fixed length. */
class RateCounter {
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

/** Counts the open exchanges of each client, for streams, which a limit per minute does not bound. */
interface OpenCounter {
  /**
   * Counts an exchange until it has ended, however it ends.
   * @throws {Problem} `rate-limit` when the client may not open another
   */
  open(client: string, request: FastifyRequest): void;
}

/** @param max exchanges per client; 0 limits nothing */
export function createOpenCounter(max: number): OpenCounter {
  const counts = new Map<string, number>();
  return {
    open(client, request) {
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
    },
  };
}

/** Limits a mount. */
export type ClientShare = (app: FastifyInstance) => void;

interface ClientShareOptions {
  /** The pool that a request will use; undefined when it uses none. */
  readonly poolOf: (request: FastifyRequest) => Pool | undefined;
  /** Time in milliseconds that a request waits for an earlier one of the same client. */
  readonly waitMs: number;
}

/** How many requests of a client may wait for each that may run. They wait before their bodies are read. */
const WAITING_PER_REQUEST = 100;

/**
 * Runs at most as many requests of one client at once as three quarters of the connections of their pool. More wait, and get 503 when they
 * wait too long or too many do. So one client cannot keep the others of an area from the database. A request counts until its exchange
 * and its handler have both ended: hanging up early does not make room for another.
 * @returns limits a mount; call it before the routes are registered. Mounts limited by the same function share the count
 */
export function createClientShare({ poolOf, waitMs }: ClientShareOptions): ClientShare {
  const semaphores = new Map<Pool, Map<string, Semaphore>>();
  // One for each client: what others have waiting costs a request nothing.
  const semaphoreOf = (pool: Pool, client: string): Semaphore => {
    const ofClients = semaphores.get(pool) ?? new Map<string, Semaphore>();
    semaphores.set(pool, ofClients);
    const running = maxRunning(pool);
    const known = ofClients.get(client);
    if (known !== undefined) return known;
    const semaphore = createSemaphore({
      maxBytes: running,
      maxWaiting: running * WAITING_PER_REQUEST,
      waitMs,
      full: busy,
      // Kept for as long as something runs or waits.
      changed: ({ bytes, waiting }) => {
        if (bytes > 0 || waiting > 0) ofClients.set(client, semaphore);
        else ofClients.delete(client);
      },
    });
    return semaphore;
  };
  return (app) => {
    app.addHook('onRoute', (route) => {
      const { handler } = route;
      route.handler = async function holding(request, reply) {
        const release = request.holdShare?.();
        try {
          return await handler.call(this, request, reply);
        } finally {
          release?.();
        }
      };
    });
    // After `onRequest`, where the token is verified, and before the body is read.
    app.addHook('preParsing', async (request, reply) => {
      const { caller } = request;
      const pool = caller === undefined ? undefined : poolOf(request);
      if (pool === undefined || caller === undefined) return;
      const wanted = { bytes: 1, client: caller.subject };
      const closed = requestClosedSignal(reply);
      const permit = await semaphoreOf(pool, caller.subject)
        .acquire(wanted, closed)
        .catch(() => {
          throw busy();
        });
      let holders = 0;
      const hold = (): (() => void) => {
        holders += 1;
        return () => {
          holders -= 1;
          if (holders === 0) permit.release();
        };
      };
      request.onClosed(hold());
      // The client went away while this request waited.
      if (holders === 0) throw busy();
      request.holdShare = hold;
    });
  };
}

function maxRunning({ options: { max } }: Pool): number {
  return Math.max(1, max - Math.max(1, Math.floor(max / 4)));
}

function busy(): Problem {
  return new Problem(platformProblems.unavailable, { headers: { 'retry-after': '5' } });
}

/** A subscriber has a whole IPv6 network: this many 16-bit groups identify it. */
const IPV6_GROUPS = 4;

/**
 * The address that a call counts under: an IPv4 address, or the /64 of an IPv6 address. When a trusted proxy wrote something else into
 * `X-Forwarded-For`, the address of the connection counts: text from outside is never kept.
 */
export function clientAddress(request: FastifyRequest): string {
  return normalise(request.ip) ?? normalise(request.socket.remoteAddress) ?? 'unknown';
}

/** The client that a call counts for: the subject of its verified token, else its address. */
export function clientKey(request: FastifyRequest): string {
  const { caller } = request;
  return caller === undefined ? `address ${clientAddress(request)}` : `subject ${caller.kind} ${caller.subject}`;
}

function normalise(text: string | undefined): string | undefined {
  // Nearly every address is this, and parsing it takes longer than all else that counts a client.
  if (text === undefined || isIPv4(text)) return text;
  // Some proxies append the port.
  const bare = text.replace(/^(\d+\.\d+\.\d+\.\d+):\d+$/, '$1').replace(/^\[([^\]]*)\](?::\d+)?$/, '$1');
  if (!ipaddr.IPv4.isValidFourPartDecimal(bare) && !isIPv6(bare)) return undefined;
  const address = ipaddr.process(bare);
  if (address instanceof ipaddr.IPv4) return address.toString();
  return `${address.parts
    .slice(0, IPV6_GROUPS)
    .map((group) => group.toString(16))
    .join(':')}::`;
}
