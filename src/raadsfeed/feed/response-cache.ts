/**
 * Public answers in memory, bounded in bytes. A full page of history is kept as it is, compressed once and with the `head` of that time, for its
 * `max-age`, unless something earlier changes; every other answer until the next publication. A hook answers before the route is reached.
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
import type { FeedState } from '../store/records.ts';
import { type FeedStateCache, isAtLeast, isSameHistory, isSameState } from './state-cache.ts';

declare module 'fastify' {
  interface FastifyRequest {
    responseKey?: string | undefined;
  }
}

export interface Answer {
  /** In pieces when long: in one string, a single character outside Latin-1 makes encoding eight times slower. */
  readonly body: string | readonly string[];
  readonly maxAgeSeconds: number;
  readonly status?: number | undefined;
  readonly link?: string | undefined;
  readonly contentType?: string;
  readonly filename?: string | undefined;
  readonly vary?: string;
  /** The state of the feed when the rows were read. Absent: not cached. */
  readonly state?: FeedState;
  /** A full page of history: cached for its `max-age`, whatever is published. */
  readonly isHistory?: boolean;
  /** Longest time in the cache, for an answer that depends on more than the state of the feed. */
  readonly keptMs?: number;
}

export type ResponseCache = ReturnType<typeof createResponseCache>;

interface Response {
  readonly body: Buffer;
  readonly status: number;
  readonly etag: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly bodyHeaders: Readonly<Record<string, string>>;
}

interface CachedResponse extends Response {
  /** The object of `FeedStateCache`, compared by identity. */
  readonly state: FeedState;
  readonly isHistory: boolean;
  /** By the clock of `FeedStateCache`. */
  readonly until: number;
}

const JSON_TYPE = 'application/json; charset=utf-8';

const ENTRY_BYTES = 1000;
const MAX_KEY_LENGTH = 2500;
const RECORD_BYTES = 2048;
/** An answer is held three times: as strings, as the body, and compressed. */
const COPIES = 3;
const WAIT_MS = 5000;
/** Memory for answers in preparation: a dozen pages of a thousand ordinary records, or one page of the largest. */
const READING_BYTES = 64 * 1024 * 1024;

/** @param maxBytes 0 keeps nothing */
export function createResponseCache(maxBytes: number, stateCache: FeedStateCache) {
  const memory = createSemaphore({
    maxWeight: READING_BYTES,
    waitMs: WAIT_MS,
    full: () => new Problem(platformProblems.unavailable, { headers: { 'retry-after': '1' } }),
  });
  const responses = new LRUCache<string, CachedResponse>({
    // One byte holds no entry: that disables the cache.
    maxSize: Math.max(1, Math.floor(maxBytes)),
    sizeCalculation: ({ body }, key) => ENTRY_BYTES + 2 * key.length + body.length,
  });
  let known: FeedState | undefined;
  stateCache.onChange((state) => {
    if (known === undefined || !isSameHistory(state, known) || !isAtLeast(state, known)) responses.clear();
    known = state;
  });

  const isFresh = ({ state, isHistory, until }: CachedResponse): boolean => {
    const current = stateCache.fresh();
    return current !== undefined && (isHistory || state === current) && stateCache.now() < until;
  };

  const findFresh = (request: FastifyRequest): CachedResponse | undefined => {
    const { method, responseKey, headers } = request;
    const found = method === 'GET' && responseKey !== undefined ? responses.get(responseKey) : undefined;
    return found !== undefined && isFresh(found) && isAcceptable(found, headers.accept) ? found : undefined;
  };

  /** An answer that was read before a redaction or a restore is not cached after it. */
  const keep = (key: string, answer: Answer, response: Response): void => {
    const { state, isHistory = false, maxAgeSeconds, keptMs = isHistory ? maxAgeSeconds * 1000 : undefined } = answer;
    const current = stateCache.fresh();
    if (state === undefined || current === undefined || key.length > MAX_KEY_LENGTH) return;
    const isCurrent = isHistory
      ? isSameHistory(state, current) && isAtLeast(current, state)
      : isSameState(state, current);
    const until = stateCache.now() + (keptMs ?? Number.POSITIVE_INFINITY);
    if (isCurrent) responses.set(key, { ...response, state: current, isHistory, until });
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
    // Not cached, so no other request needs it encoded.
    if (answer.state === undefined && status === 200 && isKnown(request, etag))
      return reply.headers(headers).code(304).send();
    const encoding = encodingOf(request);
    const response = { status, etag, headers, ...(await encodeBody(plain, encoding, contentType)) };
    if (request.responseKey !== undefined) keep(request.responseKey, answer, response);
    return reply.sent ? reply : sendResponse(request, reply, response);
  };

  return {
    answerFromMemory(scope: FastifyInstance): void {
      scope.decorateRequest('responseKey');
      scope.addHook('onRequest', (request, reply, done) => {
        // Before the contract converts the parameters.
        request.responseKey = keyOf(request, encodingOf(request));
        const found = findFresh(request);
        if (found !== undefined) sendResponse(request, reply, found);
        else done();
      });
    },
    /**
     * Reads an answer, once there is memory for it, and sends it.
     * @param reading memory for its number of `records` is reserved before it is read
     * @throws {Problem} `unavailable` when there is no memory in time
     */
    async answer(
      request: FastifyRequest,
      reply: FastifyReply,
      { records, read }: { readonly records: number; readonly read: () => Promise<Answer> },
    ): Promise<FastifyReply> {
      const closed = requestClosedSignal(reply);
      const bytes = records * RECORD_BYTES * COPIES;
      const permit = await memory.acquire({ weight: bytes }, closed).catch((error: unknown) => {
        if (closed.aborted) return undefined;
        throw error;
      });
      // The client disconnected, or the deadline replied.
      if (permit === undefined) return reply.sent ? reply : reply.hijack();
      try {
        // A concurrent waiter may have read it meanwhile.
        const found = findFresh(request);
        if (found !== undefined) return reply.sent ? reply : sendResponse(request, reply, found);
        const answer = await read();
        return reply.sent ? reply : await send(request, reply, answer, permit);
      } finally {
        permit.release();
      }
    },
    bytes: (): number => responses.calculatedSize,
  };
}

/** Cheapest first, for clients without a preference. */
const ENCODINGS = ['zstd', 'br', 'gzip'] as const;
type Encoding = (typeof ENCODINGS)[number] | 'identity';

function encodingOf(request: FastifyRequest): Encoding {
  return acceptedEncoding(request.headers['accept-encoding'], ENCODINGS);
}

/** Apart from `Accept`, nothing else about a request changes its response. The parsed query, so that spellings of one parameter share an entry. */
function keyOf({ url, query }: FastifyRequest, encoding: Encoding): string {
  const end = url.indexOf('?');
  return end === -1 ? `${encoding} ${url}` : `${encoding} ${url.slice(0, end)} ${JSON.stringify(query)}`;
}

const WORTH_COMPRESSING_BYTES = 1024;

/** Higher levels take too much time for what they save. */
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
  // A small buffer is a slice of a pool: caching it would keep the whole pool alive.
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

function isAcceptable({ bodyHeaders }: CachedResponse, accept: string | undefined): boolean {
  if (bodyHeaders['content-type'] !== JSON_TYPE) return true;
  if (accept === undefined || accept === '*/*' || accept === 'application/json') return true;
  return acceptedTypes(accept, ['application/json']).length > 0;
}
