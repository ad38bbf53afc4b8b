/** Bodies: how many bytes of requests and unread answers are held in memory, and how JSON is read. */

import { isUtf8 } from 'node:buffer';
import type { ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import type { FastifyInstance, FastifyRequest, RequestPayload } from 'fastify';
import fp from 'fastify-plugin';
import { Problem } from '../lib/problem.ts';
import { createBatchPerTick } from '../lib/scheduling.ts';
import { clientKey } from './limits.ts';
import { platformProblems } from './problems.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /**
     * Keeps the bytes of the request's body counted until the returned function is called, for work that goes on after the client has
     * gone. Absent without a body.
     */
    holdBody?: () => () => void;
  }
}

/** The part of the budget for bodies that one client may hold. */
const BODY_SHARE = 1 / 2;

/** What a request takes in memory beside its body. */
const REQUEST_BYTES = 1024;

/**
 * Refuses a body whose `Content-Length` is over the limit of its route, before the more expensive check of the token.
 * @throws {Problem}
 */
export function checkAnnouncedBody(request: FastifyRequest): void {
  if (!request.is404 && announcedBytes(request) > (request.routeOptions.bodyLimit ?? Number.POSITIVE_INFINITY)) {
    throw new Problem(platformProblems.bodyTooLarge);
  }
}

/**
 * Refuses a body that does not fit in the budget beside those in progress, since what is parsed from a body is many times as large.
 * @param maxBytes of all bodies in progress in this scope
 */
export function limitBodies(app: FastifyInstance, maxBytes: number): void {
  const budget = new ByteBudget(maxBytes);
  app.addHook('preParsing', (request, _reply, payload, done) => {
    if (request.headers['transfer-encoding'] === undefined && announcedBytes(request) === 0) return done(null, payload);
    const client = clientKey(request);
    let taken = 0;
    let holders = 0;
    const hold = (): (() => void) => {
      holders += 1;
      return () => {
        holders -= 1;
        if (holders === 0) budget.release(client, taken);
      };
    };
    const acquire = (bytes: number): void => {
      // After the answer, the rest of a refused body is discarded and not counted.
      if (holders === 0) return;
      const refused = budget.acquire(client, bytes, BODY_SHARE, taken);
      if (refused !== undefined) throw overBudget(refused);
      taken += bytes;
    };
    request.holdBody = hold;
    request.onClosed(hold());
    acquire(REQUEST_BYTES);
    return done(null, metered(payload, acquire));
  });
}

/**
 * Counts a body as it arrives and not by its announced length: otherwise connections that send nothing could exhaust the budget. Nothing
 * is read until the result is read, so that a refusal always has a listener. A refusal does not destroy the request, because the answer
 * goes out on the same connection.
 */
function metered(payload: RequestPayload, acquire: (bytes: number) => void): RequestPayload {
  let isReading = false;
  const pass = (chunk: Buffer): void => {
    try {
      acquire(chunk.length);
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
    // Discard the rest: otherwise the next request on the connection would never be read.
    payload.on('error', () => undefined).resume();
  };
  const result = new Readable({
    read() {
      // It failed before it was read: the event has passed.
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

function overBudget(refused: 'client' | 'all'): Problem {
  const headers = { 'retry-after': '1' };
  if (refused === 'all') return new Problem(platformProblems.unavailable, { headers });
  return new Problem(platformProblems.rateLimit, {
    detail: 'Er zijn te veel grote verzoeken tegelijk; wacht op de antwoorden.',
    headers,
  });
}

/** Smaller answers go straight to the operating system. */
const SMALL_BYTES = 16_384;

/** A client that leaves an answer unread for this long is not reading; sooner, it may be fast on many connections. */
const NOT_READING_MS = 1000;

interface Unread {
  readonly client: string;
  readonly since: number;
  readonly forget: () => void;
}

/**
 * Limits the bytes of complete answers that are not read yet: one connection can request hundreds by pipelining and read none. A client
 * that does not read gets 429 when its share is used up; when the total is used up, the connection with the oldest unread answer is cut.
 * Streamed answers have their own limit.
 * @param maxBytes of all unread answers in this scope
 */
export function limitUnreadAnswers(app: FastifyInstance, maxBytes: number): void {
  const budget = new ByteBudget(maxBytes);
  // Oldest first.
  const unread = new Map<ServerResponse, Unread>();

  const isReading = (client: string): boolean => {
    for (const one of unread.values()) {
      if (one.client === client) return performance.now() - one.since < NOT_READING_MS;
    }
    return true;
  };
  /** @returns false when the client's share is used up */
  const acquire = (client: string, bytes: number): boolean => {
    const refused = budget.acquire(client, bytes);
    if (refused === undefined) return true;
    if (refused === 'client' && !isReading(client)) return false;
    for (const [oldest, { forget }] of unread) {
      if (budget.acquire(client, bytes, 1) === undefined) return true;
      forget();
      oldest.destroy();
    }
    return budget.acquire(client, bytes, 1) === undefined;
  };

  app.addHook('onSend', (request, reply, payload, done) => {
    const { raw } = reply;
    const bytes = typeof payload === 'string' || Buffer.isBuffer(payload) ? Buffer.byteLength(payload) : 0;
    if (bytes < SMALL_BYTES || raw.destroyed) return done(null, payload);
    const client = clientKey(request);
    if (!acquire(client, bytes)) return done(tooMuchUnread());
    const forget = (): void => {
      if (unread.delete(raw)) budget.release(client, bytes);
    };
    unread.set(raw, { client, since: performance.now(), forget });
    request.onClosed(forget);
    return done(null, payload);
  });
}

function tooMuchUnread(): Problem {
  return new Problem(platformProblems.rateLimit, {
    detail: 'Er zijn te veel antwoorden gevraagd die nog niet gelezen zijn.',
    headers: { 'retry-after': '1' },
  });
}

/** Most members of an object in a body; no contract names a tenth of that. */
const MAX_MEMBERS = 1000;
/** A smaller body cannot hold enough members to matter. */
const SCANNED_BYTES = 16_384;
const TOO_MANY = {
  name: '',
  code: 'maxProperties',
  reason: `een object in de inhoud heeft meer dan ${MAX_MEMBERS} leden`,
};

const [QUOTE, BACKSLASH, COLON, OPEN, CLOSE] = Buffer.from('"\\:{}');

/**
 * Whether an object in a JSON text has more than `most` members. Parsing many distinct names takes far longer than this scan of the bytes,
 * and explaining what is wrong with each takes longer still. For text that is not JSON the result means nothing.
 */
function hasCrowdedObject(text: Uint8Array, most: number): boolean {
  const outer: number[] = [];
  let members = 0;
  for (let i = 0; i < text.length; i += 1) {
    const byte = text[i];
    if (byte === QUOTE) {
      for (i += 1; i < text.length && text[i] !== QUOTE; i += 1) if (text[i] === BACKSLASH) i += 1;
    } else if (byte === COLON) {
      members += 1;
      if (members > most) return true;
    } else if (byte === OPEN) {
      outer.push(members);
      members = 0;
    } else if (byte === CLOSE) {
      members = outer.pop() ?? 0;
    }
  }
  return false;
}

/** Whether a JSON text has an object with more members than any contract has: it would take too long to parse. */
export function isCrowded(text: Uint8Array): boolean {
  return text.length > SCANNED_BYTES && hasCrowdedObject(text, MAX_MEMBERS);
}

/** Reads JSON bodies strictly: UTF-8 or nothing (RFC 8259 8.1), no `__proto__`; every other media type is refused. */
export const jsonBody = fp(strictJsonBody, { name: 'json-body' });

async function strictJsonBody(app: FastifyInstance): Promise<void> {
  const parse = app.getDefaultJsonParser('error', 'error');
  const batchPerTick = createBatchPerTick();
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (request, body, done) => {
    if (hasOtherCharset(request.headers['content-type'])) {
      return done(new Problem(platformProblems.unsupportedMediaType, { detail: 'De tekenset moet UTF-8 zijn.' }));
    }
    if (typeof body !== 'string' && !isUtf8(body)) {
      return done(new Problem(platformProblems.invalidRequest, { detail: 'De inhoud is geen geldige UTF-8.' }));
    }
    if (typeof body !== 'string' && isCrowded(body)) {
      return done(new Problem(platformProblems.invalidRequest, { detail: TOO_MANY.reason, invalidParams: [TOO_MANY] }));
    }
    return batchPerTick(() => parse(request, body.toString(), done));
  });
}

/** Whether a `Content-Type` names a character set that is not UTF-8. */
export function hasOtherCharset(contentType: string | undefined): boolean {
  const charset = /;\s*charset\s*=\s*"?([^";\s]+)/i.exec(contentType ?? '')?.[1];
  return charset !== undefined && charset.toLowerCase() !== 'utf-8';
}

/** Bytes held on behalf of clients, limited per client and in total. */
class ByteBudget {
  /** The part of the budget that one client may hold, unless said otherwise. */
  static readonly CLIENT_SHARE = 1 / 4;

  readonly #max: number;
  readonly #ofClients = new Map<string, number>();
  #used = 0;

  /** @param max bytes in total; a single item that finds the budget empty is let in whatever its size */
  constructor(max: number) {
    this.#max = max;
  }

  /**
   * @param share the part of the budget that this client may hold
   * @param taken what the same item holds already: it does not count against itself
   * @returns which limit refused it, if any
   */
  acquire(client: string, bytes: number, share = ByteBudget.CLIENT_SHARE, taken = 0): 'client' | 'all' | undefined {
    const ofClient = this.#ofClients.get(client) ?? 0;
    if (ofClient > taken && ofClient + bytes > this.#max * share) return 'client';
    if (this.#used > taken && this.#used + bytes > this.#max) return 'all';
    this.#used += bytes;
    this.#ofClients.set(client, ofClient + bytes);
    return undefined;
  }

  release(client: string, bytes: number): void {
    this.#used -= bytes;
    const left = (this.#ofClients.get(client) ?? 0) - bytes;
    if (left > 0) this.#ofClients.set(client, left);
    else this.#ofClients.delete(client);
  }
}
