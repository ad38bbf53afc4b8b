/** How much of request bodies is taken: of one, of one client, and of all together. */

import { isUtf8 } from 'node:buffer';
import type { ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import type { FastifyInstance, FastifyRequest, RequestPayload } from 'fastify';
import { Problem } from '../kernel/problem.ts';
import { createBatchPerTick } from '../kernel/scheduling.ts';
import { clientKey } from './limits.ts';
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

/** Bytes that are held for clients, bounded for each of them and for all together. */
class ByteBudget {
  /** One client may hold a quarter of what all may. */
  static readonly CLIENT_SHARE = 1 / 4;

  readonly #max: number;
  readonly #ofClients = new Map<string, number>();
  #used = 0;

  /** @param max bytes for all together; what would be alone is let in however large it is */
  constructor(max: number) {
    this.#max = max;
  }

  /**
   * Takes room for bytes of a client.
   * @param share the part of all that this client may hold
   * @param taken what was taken before for the same thing: it does not keep itself out
   * @returns whose bound kept it from that, if any
   */
  take(client: string, bytes: number, share = ByteBudget.CLIENT_SHARE, taken = 0): 'client' | 'all' | undefined {
    const ofClient = this.#ofClients.get(client) ?? 0;
    if (ofClient > taken && ofClient + bytes > this.#max * share) return 'client';
    if (this.#used > taken && this.#used + bytes > this.#max) return 'all';
    this.#used += bytes;
    this.#ofClients.set(client, ofClient + bytes);
    return undefined;
  }

  give(client: string, bytes: number): void {
    this.#used -= bytes;
    const left = (this.#ofClients.get(client) ?? 0) - bytes;
    if (left > 0) this.#ofClients.set(client, left);
    else this.#ofClients.delete(client);
  }
}

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

/** Members that an object of a body may have; no contract names a tenth of them. */
const MAX_MEMBERS = 1000;
/** Smaller bodies cannot hold so many more that it matters. */
const SCANNED_BYTES = 16_384;
const TOO_MANY = {
  name: '',
  code: 'maxProperties',
  reason: `een object in de inhoud heeft meer dan ${MAX_MEMBERS} leden`,
};

const [QUOTE, BACKSLASH, COLON, OPEN, CLOSE] = Buffer.from('"\\:{}');

/**
 * Whether an object in a JSON text has more than so many members. Reading different names takes many times as long as this look at the
 * bytes, and explaining what is wrong with each takes longer still. Of what is no JSON it may say anything.
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

/** Reads JSON bodies strictly: UTF-8 or nothing (RFC 8259 8.1), no `__proto__`; every other media type is refused. */
export function strictJsonBody(app: FastifyInstance): void {
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
    if (typeof body !== 'string' && body.length > SCANNED_BYTES && hasCrowdedObject(body, MAX_MEMBERS)) {
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
