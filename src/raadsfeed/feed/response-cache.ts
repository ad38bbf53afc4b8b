/**
 * Sends the public answers of the feed, and keeps them: the same request gets the same answer until the feed changes. A hook answers from
 * memory before the route is reached; addresses, limits, deadlines and metrics are those of every request.
 */
import { hash } from 'node:crypto';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { requestClosedSignal } from '../../http/connections.ts';
import { RESOURCE_TYPES } from '../domain/resource.ts';
import type { FeedHead } from '../store/feed-row.ts';
import {
  type CompressedEncoding,
  chooseEncoding,
  compress,
  type Encoding,
  WORTH_COMPRESSING_BYTES,
} from './compression.ts';
import { type HeadCache, isSameHead } from './head.ts';
import { createByteCache, createMemorySemaphore } from './memory.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** What the answer to this request depends on beside the feed; absent when it is not kept. */
    responseKey?: string | undefined;
  }
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
  /** Answers what is kept, and notes on every other request under which key its answer may be. */
  register(app: FastifyInstance): void;
  send(request: FastifyRequest, reply: FastifyReply, options: BodyOptions): Promise<FastifyReply>;
  /**
   * Reads what an answer is made of, and sends it, when there is memory for it.
   * @param records that it may hold
   * @throws {Problem} `unavailable` when there is none in time
   */
  make(
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
  /** Of the records that were read, when they are not in memory anyway. */
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
  /** How the feed stood when the body was read. Absent: it is not kept. */
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
/** What was read stands in memory as texts, as the body, and compressed. */
const COPIES = 3;
const WAIT_MS = 5000;
/** Pages of a thousand ordinary records, a dozen at once; one page of the largest alone is as much. */
const MAKING_BYTES = 64 * 1024 * 1024;

export function createResponseCache(
  maxBytes: number,
  heads: HeadCache,
  room = createMemorySemaphore(MAKING_BYTES, WAIT_MS),
): ResponseCache {
  const responses = createByteCache<CachedResponse>(
    maxBytes,
    ({ etag, headers, bodyHeaders, body }) =>
      body.length + 2 * (etag.length + Object.values({ ...headers, ...bodyHeaders }).join('').length),
  );
  heads.onChange(() => responses.clear());
  /** Bodies that are being compressed: whoever asks for the very same meanwhile shares it. */
  const underWay = new Map<string, Promise<Buffer>>();

  /** The tag says what the body is, so with the parameters it says who may share it. */
  const encode = async (
    key: string | undefined,
    etag: string,
    encoding: Encoding,
    { body, compressed }: Pick<BodyOptions, 'body' | 'compressed'>,
  ): Promise<{ bytes: Buffer; isCompressed: boolean }> => {
    if (encoding === 'identity') return { bytes: asBuffer(body()), isCompressed: false };
    if (compressed !== undefined) return { bytes: await compressed(encoding), isCompressed: true };
    const shared = key === undefined ? undefined : `${key} ${etag}`;
    const present = shared === undefined ? undefined : underWay.get(shared);
    if (present !== undefined) return { bytes: await present, isCompressed: true };
    const plain = asBuffer(body());
    if (plain.length < WORTH_COMPRESSING_BYTES) return { bytes: plain, isCompressed: false };
    const work = compress(plain, encoding);
    if (shared === undefined) return { bytes: await work, isCompressed: true };
    underWay.set(shared, work);
    return { bytes: await work.finally(() => underWay.delete(shared)), isCompressed: true };
  };

  const answer = (request: FastifyRequest, reply: FastifyReply): boolean => {
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
    const encoding = chooseEncoding(request.headers['accept-encoding']);
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
        if (!answer(request, reply)) done();
      });
    },
    send,
    async make(request, reply, records, read) {
      const gone = requestClosedSignal(reply);
      const place = await room.acquire(records * RECORD_BYTES * COPIES, gone).catch((error: unknown) => {
        if (gone.aborted) return undefined;
        throw error;
      });
      // Nobody is there to be answered, or the deadline has answered.
      if (place === undefined) return reply.sent ? reply : reply.hijack();
      try {
        const options = await read();
        place.resize((options.bytes ?? 0) * COPIES);
        return await send(request, reply, options);
      } finally {
        place.release();
      }
    },
    bytes: responses.bytes,
  };
}

/** Longest key that is kept: a `bronidentificatie` in a cursor makes the longest. */
const MAX_KEY_LENGTH = 2500;

/** Made of understood parameters only, in one form: anything else about a request makes no other answer, or a refusal. */
function keyOf(request: FastifyRequest): string | undefined {
  const { operationId = '' } = request.routeOptions.config;
  if (request.method !== 'GET' || !CACHED_OPERATIONS.has(operationId)) return undefined;
  const query = keyOfQuery(request.query);
  if (query === undefined) return undefined;
  const { organisatiecode = '', bronidentificatie = '' } = { ...Object(request.params) };
  const path = `${String(organisatiecode).toLowerCase()} ${encodeURIComponent(String(bronidentificatie))}`;
  const key = `${operationId} ${chooseEncoding(request.headers['accept-encoding'])} ${query} ${path}`;
  return key.length > MAX_KEY_LENGTH ? undefined : key;
}

/** What each parameter of a list may be, in the form in which it counts. */
const PARAMETERS: Readonly<Record<string, (value: string) => string | undefined>> = {
  // Only what a cursor is written as is one, so its text stands for its position.
  cursor: (value) => (/^[\w-]{1,2000}$/.test(value) ? value : undefined),
  limit: (value) => (/^([1-9]\d{0,2}|1000)$/.test(value) ? value : undefined),
  organisatiecode: (value) => (/^(gm\d{4}|pv\d{2}|ws\d{4})$/i.test(value) ? value.toLowerCase() : undefined),
  resourceType: (value) => RESOURCE_TYPES.find((type) => type === value),
};

function keyOfQuery(query: unknown): string | undefined {
  const given = new Map(Object.entries(Object(query)));
  const parts: string[] = [];
  for (const [name, read] of Object.entries(PARAMETERS)) {
    const value = given.get(name);
    given.delete(name);
    const known = typeof value === 'string' ? read(value) : undefined;
    if (value !== undefined && known === undefined) return undefined;
    parts.push(known ?? '');
  }
  return given.size > 0 ? undefined : parts.join(' ');
}

/** Whether JSON is surely welcome; the rest the contract decides. */
function acceptsJson(accept: string | undefined): boolean {
  return accept === undefined || accept === '*/*' || accept === 'application/json';
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
