/**
 * What is kept in memory of public answers, each bounded in bytes: full pages of history, which stay as they are until something earlier
 * changes, and whole responses, which hold until anything is published. A hook answers from memory before the route is reached; addresses,
 * limits, deadlines and metrics are those of every request.
 */
import { hash } from 'node:crypto';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { LRUCache } from 'lru-cache';
import { isRecord } from '../../lib/json/json-value.ts';
import { Problem } from '../../lib/problem.ts';
import { createMemorySemaphore, type MemoryPermit } from '../../lib/scheduling.ts';
import { requestClosedSignal } from '../../plugins/connections.ts';
import { acceptedEncoding, acceptedTypes } from '../../plugins/headers.ts';
import { platformProblems } from '../../plugins/problems.ts';
import { RESOURCE_TYPES } from '../domain/resource.ts';
import type { FeedHead, FeedPosition } from '../store/feed-row.ts';
import {
  type CompressedEncoding,
  compress,
  ENCODINGS,
  type OpenBody,
  openBody,
  WORTH_COMPRESSING_BYTES,
} from './compression.ts';
import { type HeadCache, isAtLeast, isSameHead, isSameHistory } from './head.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** What the response to this request depends on beside the feed; absent when it is not cached. */
    responseKey?: string | undefined;
  }
}

/** What an entry takes beside its key and its bytes, at most about. */
const ENTRY_BYTES = 1000;

/** Keeps what was used last, up to a number of bytes, keys counted. @param maxBytes 0 keeps nothing */
export function createByteCache<V extends object>(maxBytes: number, sizeOf: (value: V) => number): LRUCache<string, V> {
  return new LRUCache<string, V>({
    // No entry fits into one byte.
    maxSize: Math.max(1, Math.floor(maxBytes)),
    sizeCalculation: (value, key) => ENTRY_BYTES + 2 * key.length + sizeOf(value),
  });
}

/** The records of a full page, `{"records":[…]`: what never changes of it but by a redaction. */
export interface PageRecords {
  readonly from: FeedPosition;
  /** The last position that was read. */
  readonly last: FeedPosition;
  readonly bytes: Buffer;
}

interface CachedPage extends PageRecords {
  /** Compressed once, however many ask. */
  compressed(encoding: CompressedEncoding): Promise<OpenBody>;
}

export interface PageCache {
  get(key: string): CachedPage | undefined;
  set(key: string, page: PageRecords): void;
  readonly bytes: () => number;
}

/** Full pages of history, plain and compressed. All of it goes whenever something earlier has changed. */
export function createPageCache(maxBytes: number, heads: HeadCache): PageCache {
  const pages = createByteCache<CachedPage & { readonly compressedBytes: number }>(
    maxBytes,
    ({ bytes, compressedBytes }) => bytes.length + compressedBytes,
  );
  let known: FeedHead | undefined;
  heads.onChange((head) => {
    if (known === undefined || !isSameHistory(head, known) || !isAtLeast(head, known)) pages.clear();
    known = head;
  });
  const countCompressed = (key: string, page: CachedPage['compressed'], { bytes }: OpenBody): void => {
    const entry = pages.peek(key);
    // Another object: the cache does not measure the one that it has a second time.
    if (entry?.compressed === page) pages.set(key, { ...entry, compressedBytes: entry.compressedBytes + bytes.length });
  };
  return {
    get: (key) => pages.get(key),
    set(key, page) {
      const bodies = new Map<CompressedEncoding, Promise<OpenBody>>();
      const compressed = (encoding: CompressedEncoding): Promise<OpenBody> => {
        const body = bodies.get(encoding) ?? openBody(page.bytes, encoding);
        if (!bodies.has(encoding)) {
          bodies.set(encoding, body);
          body.then(
            (made) => countCompressed(key, compressed, made),
            () => bodies.delete(encoding),
          );
        }
        return body;
      };
      pages.set(key, { ...page, compressed, compressedBytes: 0 });
    },
    bytes: () => pages.calculatedSize,
  };
}

interface CachedResponse {
  /** How the feed stood when its rows were read: the very object that `HeadCache` had then. */
  readonly head: FeedHead;
  readonly etag: string;
  /** Those of a 304 too, and those that go with the body. */
  readonly headers: Readonly<Record<string, string>>;
  readonly bodyHeaders: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

export interface ResponseCache {
  /** Answers from memory what is there, and gives every other request the key that its response is stored under. */
  register(app: FastifyInstance): void;
  /** Sends a body that was read, and stores the response when it still holds. */
  send(request: FastifyRequest, reply: FastifyReply, options: BodyOptions): Promise<FastifyReply>;
  /**
   * Reads what an answer is made of, once there is memory for it, and sends it.
   * @param records that it may hold
   * @throws {Problem} `unavailable` when there is no memory in time
   */
  readAndSend(
    request: FastifyRequest,
    reply: FastifyReply,
    records: number,
    read: () => Promise<BodyOptions>,
  ): Promise<FastifyReply>;
  readonly bytes: () => number;
}

export interface BodyOptions {
  /** Makes the plain body, when it is needed; and how it is compressed when there is a better way than doing it now. */
  readonly body: () => Buffer | string;
  readonly compressed?: ((encoding: CompressedEncoding) => Promise<Buffer>) | undefined;
  /** Of the records that were read, unless they are cached anyway. */
  readonly bytes?: number | undefined;
  /** Called when the client has it already, instead of making a body. */
  readonly unchanged?: (() => void) | undefined;
  /** Absent: made from the body. */
  readonly etag?: string;
  readonly maxAgeSeconds: number;
  readonly link?: string | undefined;
  readonly contentType?: string;
  /** Names of request headers beside `Accept-Encoding` that the answer depends on. */
  readonly vary?: string;
  /** How the feed stood when the body was read. Absent: the response is not cached. */
  readonly head?: FeedHead;
}

/** Operations whose answer follows from their parameters, the encoding and the state of the feed. */
const CACHED_OPERATIONS = new Set([
  'getFeed',
  'getSnapshot',
  ...['getVergaderingen', 'getVergadering', 'getAgendapunten', 'getAgendapunt'],
  ...['getInformatieobjecten', 'getInformatieobject'],
]);

/** What a record takes, about, before it is known. */
const RECORD_BYTES = 2048;
/** What was read is in memory as texts, as the body, and compressed. */
const COPIES = 3;
const WAIT_MS = 5000;
/** A dozen pages of a thousand ordinary records, or one page of the largest. */
const READING_BYTES = 64 * 1024 * 1024;

interface AnswerMemory {
  /** @throws {Problem} `unavailable` when there was no memory in time; the signal's reason */
  acquire(bytes: number, signal: AbortSignal): Promise<MemoryPermit>;
  readonly used: () => number;
}

/** Bounds the memory of answers that are being made: rows that were read, their body, and what it is compressed to. */
export function createAnswerMemory(maxBytes: number, waitMs: number): AnswerMemory {
  const full = (): Problem => new Problem(platformProblems.unavailable, { headers: { 'retry-after': '1' } });
  const memory = createMemorySemaphore({ maxBytes, waitMs, full });
  // Nobody has a share of his own: pages are small, and the same for all.
  const clients = ['everyone'];
  return { acquire: (bytes, signal) => memory.acquire({ bytes, clients }, signal), used: memory.used };
}

export function createResponseCache(
  maxBytes: number,
  heads: HeadCache,
  memory = createAnswerMemory(READING_BYTES, WAIT_MS),
): ResponseCache {
  const responses = createByteCache<CachedResponse>(
    maxBytes,
    ({ etag, headers, bodyHeaders, body }) =>
      body.length + 2 * (etag.length + Object.values({ ...headers, ...bodyHeaders }).join('').length),
  );
  heads.onChange(() => responses.clear());
  /** Bodies that are being compressed: requests for the very same share one. */
  const pending = new Map<string, Promise<Buffer>>();

  /** The tag says what the body is, so with the parameters it says who may share it. */
  const encode = async (
    key: string | undefined,
    etag: string,
    encoding: CompressedEncoding | 'identity',
    { body, compressed }: Pick<BodyOptions, 'body' | 'compressed'>,
  ): Promise<{ bytes: Buffer; isCompressed: boolean }> => {
    if (encoding === 'identity') return { bytes: asBuffer(body()), isCompressed: false };
    if (compressed !== undefined) return { bytes: await compressed(encoding), isCompressed: true };
    const shared = key === undefined ? undefined : `${key} ${etag}`;
    const present = shared === undefined ? undefined : pending.get(shared);
    if (present !== undefined) return { bytes: await present, isCompressed: true };
    const plain = asBuffer(body());
    if (plain.length < WORTH_COMPRESSING_BYTES) return { bytes: plain, isCompressed: false };
    const work = compress(plain, encoding);
    if (shared === undefined) return { bytes: await work, isCompressed: true };
    pending.set(shared, work);
    return { bytes: await work.finally(() => pending.delete(shared)), isCompressed: true };
  };

  const answerFromMemory = (request: FastifyRequest, reply: FastifyReply): boolean => {
    const { responseKey } = request;
    if (responseKey === undefined || !acceptsJson(request.headers.accept)) return false;
    const found = responses.get(responseKey);
    if (found === undefined || found.head !== heads.cachedHead()) return false;
    reply.headers(found.headers);
    if (matches(request.headers['if-none-match'], found.etag)) reply.code(304).send();
    else reply.headers(found.bodyHeaders).send(found.body);
    return true;
  };

  const send: ResponseCache['send'] = async (request, reply, options) => {
    // The deadline has answered.
    if (reply.sent) return reply;
    const { link } = options;
    let made: Buffer | string | undefined;
    const body = (): Buffer | string => {
      made ??= options.body();
      return made;
    };
    const etag = options.etag ?? weakEtag(body());
    const headers = {
      'cache-control': `public, max-age=${options.maxAgeSeconds}`,
      etag,
      vary: options.vary === undefined ? 'Accept-Encoding' : `Accept-Encoding, ${options.vary}`,
      ...(link === undefined ? {} : { link }),
    };
    reply.headers(headers);
    if (matches(request.headers['if-none-match'], etag)) {
      options.unchanged?.();
      return reply.code(304).send();
    }
    const encoding = acceptedEncoding(request.headers['accept-encoding'], ENCODINGS);
    const { bytes, isCompressed } = await encode(request.responseKey, etag, encoding, { ...options, body });
    const bodyHeaders = {
      'content-type': options.contentType ?? 'application/json; charset=utf-8',
      ...(isCompressed ? { 'content-encoding': encoding } : {}),
      'content-length': String(bytes.length),
    };
    const known = heads.cachedHead();
    const { responseKey } = request;
    if (
      responseKey !== undefined &&
      options.head !== undefined &&
      known !== undefined &&
      isSameHead(options.head, known)
    )
      responses.set(responseKey, { head: known, etag, headers, bodyHeaders, body: bytes });
    return reply.sent ? reply : reply.headers(bodyHeaders).send(bytes);
  };

  return {
    register(app) {
      app.decorateRequest('responseKey');
      app.addHook('onRequest', (request, reply, done) => {
        request.responseKey = keyOf(request);
        if (!answerFromMemory(request, reply)) done();
      });
    },
    send,
    async readAndSend(request, reply, records, read) {
      const closed = requestClosedSignal(reply);
      const lease = await memory.acquire(records * RECORD_BYTES * COPIES, closed).catch((error: unknown) => {
        if (closed.aborted) return undefined;
        throw error;
      });
      // The client has gone, or the deadline has answered.
      if (lease === undefined) return reply.sent ? reply : reply.hijack();
      try {
        const options = await read();
        lease.resize((options.bytes ?? 0) * COPIES);
        return await send(request, reply, options);
      } finally {
        lease.release();
      }
    },
    bytes: () => responses.calculatedSize,
  };
}

/** Longest key: that of a cursor with a `bronidentificatie` in it. */
const MAX_KEY_LENGTH = 2500;

/** Made of known parameters only, in one form: nothing else about a request changes its response, or it is refused. */
function keyOf(request: FastifyRequest): string | undefined {
  const { operationId = '' } = request.routeOptions.config;
  if (request.method !== 'GET' || !CACHED_OPERATIONS.has(operationId)) return undefined;
  const query = keyOfQuery(request.query);
  if (query === undefined) return undefined;
  const params = isRecord(request.params) ? request.params : {};
  const organisatiecode = String(params.organisatiecode ?? '').toLowerCase();
  const bronidentificatie = encodeURIComponent(String(params.bronidentificatie ?? ''));
  const encoding = acceptedEncoding(request.headers['accept-encoding'], ENCODINGS);
  const key = `${operationId} ${encoding} ${query} ${organisatiecode} ${bronidentificatie}`;
  return key.length > MAX_KEY_LENGTH ? undefined : key;
}

/** The parameters of a list, each in one form; `undefined` for a value that the contract refuses. */
const PARAMETERS = Object.entries<(value: string) => string | undefined>({
  // A position has only one cursor.
  cursor: (value) => (/^[\w-]{1,2000}$/.test(value) ? value : undefined),
  limit: (value) => (/^([1-9]\d{0,2}|1000)$/.test(value) ? value : undefined),
  organisatiecode: (value) => (/^(gm\d{4}|pv\d{2}|ws\d{4})$/i.test(value) ? value.toLowerCase() : undefined),
  resourceType: (value) => RESOURCE_TYPES.find((type) => type === value),
});

function keyOfQuery(query: unknown): string | undefined {
  if (!isRecord(query)) return undefined;
  let key = '';
  let known = 0;
  for (const [name, read] of PARAMETERS) {
    const value = query[name];
    const form = typeof value === 'string' ? read(value) : undefined;
    if (value !== undefined) {
      if (form === undefined) return undefined;
      known += 1;
    }
    key += `${form ?? ''} `;
  }
  return known === Object.keys(query).length ? key : undefined;
}

/** Whether the client takes JSON, as browsers do behind a dozen other types; who does not is left to the contract. */
function acceptsJson(accept: string | undefined): boolean {
  if (accept === undefined || accept === '*/*' || accept === 'application/json') return true;
  return acceptedTypes(accept, ['application/json']).length > 0;
}

/** Whether `If-None-Match` names this tag; the comparison is the weak one (RFC 9110 13.1.2). */
function matches(ifNoneMatch: string | undefined, etag: string): boolean {
  if (ifNoneMatch === undefined) return false;
  if (ifNoneMatch === etag || ifNoneMatch.trim() === '*') return true;
  const opaque = etag.replace(/^W\//, '');
  return ifNoneMatch.split(',').some((tag) => tag.trim().replace(/^W\//, '') === opaque);
}

function asBuffer(body: Buffer | string): Buffer {
  return Buffer.isBuffer(body) ? body : Buffer.from(body);
}

function weakEtag(body: Buffer | string): string {
  return `W/"${hash('sha256', body, 'base64url').slice(0, 22)}"`;
}
