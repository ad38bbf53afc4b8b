import { pipeline, type Readable } from 'node:stream';
import { createBrotliDecompress, createGunzip, createZstdDecompress } from 'node:zlib';
import { type Dispatcher, request as undiciRequest } from 'undici';
import {
  type AddressRules,
  assertCallableName,
  checkUrl,
  createOutboundAgent,
  guardedLookup,
  headerValue,
  OutboundError,
  type ProxySettings,
  redirected,
  redirection,
} from './address-guard.ts';

const MAX_REDIRECTS = 2;
const CONNECT_TIMEOUT_MS = 2_000;

export interface GuardedFetchOptions extends AddressRules {
  /** The proxy for the calls; absent: direct. */
  readonly proxy?: ProxySettings;
}

/** One request for bytes of any kind. */
interface GuardedRequest {
  readonly url: string;
  readonly method: 'GET' | 'POST';
  readonly body?: Uint8Array;
  readonly contentType?: string;
  /** Milliseconds until the whole answer must be there. */
  readonly timeoutMs: number;
  readonly maxBytes: number;
  readonly signal: AbortSignal;
}

/** A fetch with its connections, which `close` ends. */
interface GuardedFetch {
  /** Gives the body of a 200 answer; anything else rejects. */
  readonly fetch: (request: GuardedRequest) => Promise<Uint8Array>;
  close(): Promise<void>;
}

/**
 * Fetches from an address that came from outside, such as one in a certificate: http and https only, with limits on time and size, and at most
 * two redirects, all on the same host. The address is judged when the connection is made, so a name that resolves differently the second
 * time does not help. When a proxy makes the connection, the target is judged beforehand.
 */
export function createGuardedFetch(options: GuardedFetchOptions): GuardedFetch {
  const { proxy = { outboundProxy: undefined, outboundNoProxy: [] } } = options;
  const agent = createOutboundAgent(proxy, {
    connect: { lookup: guardedLookup(options), timeout: CONNECT_TIMEOUT_MS },
    connections: 4,
    keepAliveTimeout: 4_000,
  });
  return {
    async fetch(request) {
      const signal = AbortSignal.any([request.signal, AbortSignal.timeout(request.timeoutMs)]);
      let url = checkUrl(request.url, options);
      for (let redirects = 0; ; redirects += 1) {
        if (proxy.outboundProxy !== undefined) await assertCallableName(url, options);
        const answer = await send(agent, url, request, signal);
        const location = redirection(answer);
        if (location === undefined) return await readAnswer(answer, request.maxBytes, signal);
        await answer.body.dump({ limit: 1024, signal });
        if (redirects === MAX_REDIRECTS) throw new Error('too many redirects');
        url = redirected(url, location, 'same-host', options);
      }
    },
    close: () => agent.destroy(),
  };
}

function send(
  agent: Dispatcher,
  url: URL,
  request: GuardedRequest,
  signal: AbortSignal,
): Promise<Dispatcher.ResponseData> {
  const contentType = request.contentType === undefined ? {} : { 'content-type': request.contentType };
  return undiciRequest(url, {
    dispatcher: agent,
    method: request.method,
    headers: { accept: '*/*', ...contentType },
    body: request.body ?? null,
    signal,
  });
}

async function readAnswer(
  { statusCode, headers, body }: Dispatcher.ResponseData,
  maxBytes: number,
  signal: AbortSignal,
): Promise<Buffer> {
  if (statusCode !== 200) {
    // A body that is destroyed before its end emits an error.
    body.on('error', () => undefined).destroy();
    throw new Error(`status ${statusCode}`);
  }
  try {
    return await readBody(body, headerValue(headers['content-encoding']), maxBytes);
  } catch (error) {
    // An aborted body breaks off; the signal has the reason.
    signal.throwIfAborted();
    throw error;
  }
}

/** Accepted encodings; decompressed piece by piece, so that a bomb is stopped at the limit. */
export const ACCEPT_ENCODING = 'br, zstd, gzip';

/**
 * Reads a body of at most `maxBytes`, counted both as sent and after decompression.
 * @throws {OutboundError} `too-large`, `encoding`, `broken-off`
 */
export async function readBody(body: Readable, encoding: string | undefined, maxBytes: number): Promise<Buffer> {
  const plain = decompressed(body, encoding?.trim().toLowerCase() ?? 'identity', maxBytes);
  const pieces: Buffer[] = [];
  let size = 0;
  try {
    for await (const piece of plain) {
      const bytes = Buffer.from(piece);
      size += bytes.length;
      if (size > maxBytes) throw tooLarge(maxBytes);
      pieces.push(bytes);
    }
    return Buffer.concat(pieces, size);
  } catch (error) {
    if (error instanceof OutboundError) throw error;
    if (isZlibError(error)) throw new OutboundError('encoding', `the answer is not in ${encoding}`, { cause: error });
    throw new OutboundError('broken-off', 'the answer broke off', { cause: error });
  } finally {
    plain.destroy();
    body.destroy();
  }
}

function decompressed(body: Readable, encoding: string, maxBytes: number): Readable {
  // A body that is destroyed before its end emits an error.
  body.on('error', () => undefined);
  if (encoding === 'identity' || encoding === '') return body;
  const inflate = decompressor(encoding);
  if (inflate === undefined) {
    body.destroy();
    throw new OutboundError('encoding', `content-encoding ${encoding.slice(0, 40)} was not asked for`);
  }
  // A reader that stops early destroys both; errors reach it through `inflate`.
  // Compressed bytes count too: pieces that expand to nothing could continue forever.
  pipeline(body, limited(maxBytes), inflate, () => undefined);
  return inflate;
}

function limited(maxBytes: number) {
  return async function* (pieces: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    let size = 0;
    for await (const piece of pieces) {
      size += piece.length;
      if (size > maxBytes) throw tooLarge(maxBytes);
      yield piece;
    }
  };
}

function tooLarge(maxBytes: number): OutboundError {
  return new OutboundError('too-large', `the answer is larger than ${maxBytes} bytes`);
}

function decompressor(encoding: string) {
  if (encoding === 'gzip' || encoding === 'x-gzip') return createGunzip();
  if (encoding === 'br') return createBrotliDecompress();
  if (encoding === 'zstd') return createZstdDecompress();
  return undefined;
}

function isZlibError(error: unknown): boolean {
  if (!(error instanceof Error) || !('code' in error) || typeof error.code !== 'string') return false;
  // A truncated compressed body (Z_BUF_ERROR) is an answer that broke off.
  return /^(Z_(?!BUF_ERROR)|ERR__ERROR_|ERR_BROTLI|ERR_ZSTD|ZSTD_)/.test(error.code);
}
