/**
 * Public answers in memory, bounded in bytes. A full page of history is kept as it is, compressed once and with the `head` that it was made
 * with, for its `max-age`, unless something earlier changes; every other answer until anything is published. A hook answers from memory
 * before the route is reached; addresses, limits, deadlines and metrics are those of every request.
 */
import { hash } from 'node:crypto';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip, zstdCompress } from 'node:zlib';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { LRUCache } from 'lru-cache';
import { Problem } from '../../lib/problem.ts';
import { createSemaphore, type Permit } from '../../lib/scheduling.ts';
import { requestClosedSignal } from '../../plugins/connections.ts';
import { acceptedEncoding, acceptedTypes, isKnown } from '../../plugins/headers.ts';
import { platformProblems } from '../../plugins/problems.ts';
import type { FeedHead } from '../store/records.ts';
import { type HeadCache, isAtLeast, isSameHead, isSameHistory } from './head.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** What a cached response is found by. */
    responseKey?: string | undefined;
  }
}

/** An answer that was read, before it is encoded. */
export interface Answer {
  /** A long one comes in pieces: joined to one text, a single character beyond Latin-1 makes encoding all of it eight times as slow. */
  readonly body: string | readonly string[];
  readonly maxAgeSeconds: number;
  /** Default 200. */
  readonly status?: number | undefined;
  readonly link?: string | undefined;
  /** Default JSON. */
  readonly contentType?: string;
  /** Name of the file when it is to be saved. */
  readonly filename?: string | undefined;
  /** Names of request headers beside `Accept-Encoding` that the answer depends on. */
  readonly vary?: string;
  /** The state of the feed when the rows were read. Absent: the route is asked each time. */
  readonly head?: FeedHead;
  /** A full page of history: it is kept for its `max-age`, whatever is published. */
  readonly isHistory?: boolean;
  /** Milliseconds that it is kept at most, when it also follows from something that the head does not tell. */
  readonly keptMs?: number;
}

export interface ResponseCache {
  /** Answers from memory before a route of this scope is reached. */
  register(app: FastifyInstance): void;
  /**
   * Reads an answer, once there is memory for it, and sends it.
   * @param records that it may hold
   * @throws {Problem} `unavailable` when there is no memory in time
   */
  answer(
    request: FastifyRequest,
    reply: FastifyReply,
    records: number,
    read: () => Promise<Answer>,
  ): Promise<FastifyReply>;
  readonly bytes: () => number;
}

interface Response {
  readonly body: Buffer;
  readonly status: number;
  readonly etag: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Those of an answer with a body only. */
  readonly bodyHeaders: Readonly<Record<string, string>>;
}

interface CachedResponse extends Response {
  /** The same object that `HeadCache` had. */
  readonly head: FeedHead;
  readonly isHistory: boolean;
  /** By the clock of `HeadCache`. */
  readonly until: number;
}

const JSON_TYPE = 'application/json; charset=utf-8';

/** What an entry takes beside its key and its bytes, at most about. */
const ENTRY_BYTES = 1000;
/** Longest key that is kept. */
const MAX_KEY_LENGTH = 2500;
/** Bytes that a record takes, about, before it is known. */
const RECORD_BYTES = 2048;
/** What was read is held three times: as strings, as the body, and compressed. */
const COPIES = 3;
const WAIT_MS = 5000;
/** Memory for answers in preparation: a dozen pages of a thousand ordinary records, or one page of the largest. */
const READING_BYTES = 64 * 1024 * 1024;

/** @param maxBytes 0 keeps nothing */
export function createResponseCache(maxBytes: number, heads: HeadCache): ResponseCache {
  const memory = createSemaphore({
    ...{ maxBytes: READING_BYTES, waitMs: WAIT_MS },
    full: () => new Problem(platformProblems.unavailable, { headers: { 'retry-after': '1' } }),
  });
  const responses = new LRUCache<string, CachedResponse>({
    // No entry fits into one byte.
    maxSize: Math.max(1, Math.floor(maxBytes)),
    sizeCalculation: ({ body }, key) => ENTRY_BYTES + 2 * key.length + body.length,
  });
  let known: FeedHead | undefined;
  heads.onChange((head) => {
    if (known === undefined || !isSameHistory(head, known) || !isAtLeast(head, known)) responses.clear();
    known = head;
  });

  const isFresh = ({ head, isHistory, until }: CachedResponse): boolean => {
    const current = heads.cachedHead();
    return current !== undefined && (isHistory || head === current) && heads.now() < until;
  };

  /** What is in memory for a request, when it may be answered with that. */
  const findFresh = (request: FastifyRequest): CachedResponse | undefined => {
    const { method, responseKey, headers } = request;
    const found = method === 'GET' && responseKey !== undefined ? responses.get(responseKey) : undefined;
    return found !== undefined && isFresh(found) && isAcceptable(found, headers.accept) ? found : undefined;
  };

  /** What was read before a redaction, or before a backup was restored, is not kept after it. */
  const keep = (key: string, answer: Answer, response: Response): void => {
    const { head, isHistory = false, maxAgeSeconds, keptMs = isHistory ? maxAgeSeconds * 1000 : undefined } = answer;
    const current = heads.cachedHead();
    if (head === undefined || current === undefined || key.length > MAX_KEY_LENGTH) return;
    const isCurrent = isHistory ? isSameHistory(head, current) && isAtLeast(current, head) : isSameHead(head, current);
    const until = heads.now() + (keptMs ?? Number.POSITIVE_INFINITY);
    if (isCurrent) responses.set(key, { ...response, head: current, isHistory, until });
  };

  const send = async (
    request: FastifyRequest,
    reply: FastifyReply,
    answer: Answer,
    permit: Permit,
  ): Promise<FastifyReply> => {
    const { body, link, vary, status = 200, contentType = JSON_TYPE, filename } = answer;
    const plain = Buffer.concat([body].flat().map((piece) => Buffer.from(piece)));
    permit.resize(plain.length * COPIES);
    const etag = `W/"${hash('sha256', plain, 'base64url').slice(0, 22)}"`;
    const headers = {
      'cache-control': `public, max-age=${answer.maxAgeSeconds}`,
      etag,
      vary: vary === undefined ? 'Accept-Encoding' : `Accept-Encoding, ${vary}`,
      ...(link === undefined ? {} : { link }),
      ...(filename === undefined ? {} : { 'content-disposition': `attachment; filename="${filename}"` }),
    };
    // Nobody else would get what is not kept.
    if (answer.head === undefined && status === 200 && isKnown(request, etag))
      return reply.headers(headers).code(304).send();
    const encoding = encodingOf(request);
    const response = { status, etag, headers, ...(await encodeBody(plain, encoding, contentType)) };
    if (request.responseKey !== undefined) keep(request.responseKey, answer, response);
    return reply.sent ? reply : sendResponse(request, reply, response);
  };

  return {
    register(app) {
      app.decorateRequest('responseKey');
      app.addHook('onRequest', (request, reply, done) => {
        // Now: the contract converts the parameters.
        request.responseKey = keyOf(request, encodingOf(request));
        const found = findFresh(request);
        if (found !== undefined) sendResponse(request, reply, found);
        else done();
      });
    },
    async answer(request, reply, records, read) {
      const closed = requestClosedSignal(reply);
      const bytes = records * RECORD_BYTES * COPIES;
      const permit = await memory.acquire({ bytes }, closed).catch((error: unknown) => {
        if (closed.aborted) return undefined;
        throw error;
      });
      // The client has gone, or the deadline has answered.
      if (permit === undefined) return reply.sent ? reply : reply.hijack();
      try {
        // Another of the crowd that waited may have read it meanwhile.
        const found = findFresh(request);
        if (found !== undefined) return reply.sent ? reply : sendResponse(request, reply, found);
        const answer = await read();
        return reply.sent ? reply : await send(request, reply, answer, permit);
      } finally {
        permit.release();
      }
    },
    bytes: () => responses.calculatedSize,
  };
}

/** In the order that we prefer when the client has no preference: by what they cost. */
const ENCODINGS = ['zstd', 'br', 'gzip'] as const;
type Encoding = (typeof ENCODINGS)[number] | 'identity';

function encodingOf(request: FastifyRequest): Encoding {
  return acceptedEncoding(request.headers['accept-encoding'], ENCODINGS);
}

/** Nothing else about a request changes its response, except for `Accept`. The query as it was parsed: a parameter has few spellings. */
function keyOf({ url, query }: FastifyRequest, encoding: Encoding): string {
  const end = url.indexOf('?');
  return end === -1 ? `${encoding} ${url}` : `${encoding} ${url.slice(0, end)} ${JSON.stringify(query)}`;
}

/** Smaller bodies gain nothing. */
const WORTH_COMPRESSING_BYTES = 1024;

/** Further compression is not worth its time. */
const COMPRESS = {
  zstd: (bytes: Buffer) => promisify(zstdCompress)(bytes, { params: { [constants.ZSTD_c_compressionLevel]: 3 } }),
  br: (bytes: Buffer) =>
    promisify(brotliCompress)(bytes, {
      params: { [constants.BROTLI_PARAM_QUALITY]: 4, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length },
    }),
  gzip: (bytes: Buffer) => promisify(gzip)(bytes, { level: 5 }),
} as const;

async function encodeBody(plain: Buffer, encoding: Encoding, contentType: string) {
  const isCompressed = encoding !== 'identity' && plain.length >= WORTH_COMPRESSING_BYTES;
  const bytes = isCompressed ? await COMPRESS[encoding](plain) : plain;
  // A small buffer is a part of a much larger one: keeping it would keep all of that.
  const body = bytes.length === bytes.buffer.byteLength ? bytes : Buffer.from(new Uint8Array(bytes).buffer);
  const bodyHeaders = {
    'content-type': contentType,
    ...(isCompressed ? { 'content-encoding': encoding } : {}),
    'content-length': String(body.length),
  };
  return { body, bodyHeaders };
}

function sendResponse(
  request: FastifyRequest,
  reply: FastifyReply,
  { status, etag, headers, bodyHeaders, body }: Response,
): FastifyReply {
  reply.headers(headers);
  if (status === 200 && isKnown(request, etag)) return reply.code(304).send();
  return reply.code(status).headers(bodyHeaders).send(body);
}

/** Whether the client takes JSON, as browsers do behind a dozen other types; who does not is left to the contract. */
function isAcceptable({ bodyHeaders }: CachedResponse, accept: string | undefined): boolean {
  if (bodyHeaders['content-type'] !== JSON_TYPE) return true;
  if (accept === undefined || accept === '*/*' || accept === 'application/json') return true;
  return acceptedTypes(accept, ['application/json']).length > 0;
}
