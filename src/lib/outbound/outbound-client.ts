/** Calls for JSON to services that an operator, or a document of such a service, named: with limits on everything. */
import type { Dispatcher } from 'undici';
import { reasonOf } from '../log.ts';
import { type Clock, retryAfterMs } from '../time.ts';
import { carriesTrace, newTraceContext, traceHeaders } from '../trace-context.ts';
import {
  ACCEPT_ENCODING,
  createGuardedConnections,
  headerValue,
  type ProxySettings,
  type RedirectPolicy,
  readBody,
} from './guarded-fetch.ts';
import { OutboundError } from './outbound-error.ts';

const MAX_REDIRECTS = 3;
const ERROR_BODY_BYTES = 65_536;
const CONNECT_TIMEOUT_MS = 10_000;

interface OutboundOptions {
  readonly clock: Clock;
  /** Time in milliseconds for one call, redirects and body included. */
  readonly timeoutMs: number;
  /** Largest answer in bytes, after decompression. */
  readonly maxBytes: number;
  /** Maximum number of connections to one host. */
  readonly connections: number;
  /** The proxy for the calls; absent: direct. */
  readonly proxy?: ProxySettings;
  /** Lets loopback and private addresses through; never link-local ones, nor those of a cloud's metadata service. */
  readonly allowPrivate: boolean;
  /** Addresses that receive the trace context of a call; absent: no address does. */
  readonly traceContextTo?: readonly string[];
}

export interface OutboundRequest {
  readonly url: string;
  readonly signal: AbortSignal;
  /** The ETag of an earlier answer from the same address. */
  readonly etag?: string | undefined;
  /**
   * `any-host` is for an address whose purpose is to redirect; never from https to http. With `none` a redirect is an unexpected status.
   */
  readonly redirects: RedirectPolicy;
}

/** A 200 answer, parsed but not validated, or a 304. */
export type OutboundAnswer = {
  /** Where the answer came from, after redirects. */
  readonly url: string;
  readonly etag: string | undefined;
  /** How long the answer says it stays fresh, in milliseconds. */
  readonly freshForMs: number;
} & (
  | {
      readonly changed: true;
      readonly json: unknown;
      /** Size after decompression. */
      readonly bytes: number;
    }
  | { readonly changed: false }
);

export interface OutboundClient {
  /** @throws {OutboundError} when no usable answer came; the signal's reason when it is aborted */
  getJson(request: OutboundRequest): Promise<OutboundAnswer>;
  close(): Promise<void>;
}

export function createOutboundClient(options: OutboundOptions): OutboundClient {
  const { clock, timeoutMs, maxBytes, allowPrivate, proxy, traceContextTo = [] } = options;
  const connections = createGuardedConnections({
    rules: { allowPrivate },
    proxy,
    maxRedirects: MAX_REDIRECTS,
    connectTimeoutMs: Math.min(CONNECT_TIMEOUT_MS, timeoutMs),
    agent: {
      connections: options.connections,
      headersTimeout: timeoutMs,
      bodyTimeout: timeoutMs,
      keepAliveTimeout: 15_000,
    },
  });

  /** No request of others causes these calls, so each begins a trace. A redirect to another host would carry it there. */
  const traceHeadersTo = ({ url, redirects }: OutboundRequest): Record<string, string> =>
    traceContextTo.length > 0 && redirects !== 'any-host' && URL.canParse(url) && carriesTrace(url, traceContextTo)
      ? traceHeaders(newTraceContext())
      : {};

  const call = async (request: OutboundRequest, signal: AbortSignal): Promise<OutboundAnswer> => {
    const headers = {
      accept: 'application/json',
      'accept-encoding': ACCEPT_ENCODING,
      'user-agent': 'koppelvlak',
      ...(request.etag === undefined ? {} : { 'if-none-match': request.etag }),
      ...traceHeadersTo(request),
    };
    const options = { method: 'GET', headers, signal } as const;
    const { answer, url } = await connections.request(request.url, options, request.redirects);
    return await readAnswer(answer, url, request);
  };

  const readAnswer = async (
    { statusCode, headers, body }: Dispatcher.ResponseData,
    url: URL,
    request: OutboundRequest,
  ): Promise<OutboundAnswer> => {
    const head = {
      url: url.href,
      etag: headerValue(headers.etag),
      freshForMs: freshForMs(headerValue(headers['cache-control']), headerValue(headers.age)),
    };
    const encoding = headerValue(headers['content-encoding']);
    if (statusCode === 304 && request.etag !== undefined) {
      await body.dump();
      return { ...head, etag: head.etag ?? request.etag, changed: false };
    }
    if (statusCode !== 200) {
      throw new OutboundError('status', `status ${statusCode}`, {
        status: statusCode,
        retryAfterMs: retryAfterMs(headerValue(headers['retry-after']), clock.now()),
        problem: await readProblem(body, encoding, headerValue(headers['content-type'])),
      });
    }
    const type = headerValue(headers['content-type']);
    if (!isJson(type)) {
      body.on('error', () => undefined).destroy();
      throw new OutboundError('content-type', `content-type ${type?.slice(0, 60) ?? 'absent'}`);
    }
    const bytes = await readBody(body, encoding, maxBytes);
    return { ...head, changed: true, json: parse(bytes), bytes: bytes.length };
  };

  return {
    async getJson(request) {
      const deadline = AbortSignal.timeout(timeoutMs);
      try {
        return await call(request, AbortSignal.any([request.signal, deadline]));
      } catch (error) {
        request.signal.throwIfAborted();
        if (deadline.aborted) throw new OutboundError('timeout', `no complete answer within ${timeoutMs} ms`);
        throw asOutboundError(error);
      }
    },
    close: connections.close,
  };
}

async function readProblem(
  body: Dispatcher.ResponseData['body'],
  encoding: string | undefined,
  type: string | undefined,
) {
  try {
    const bytes = await readBody(body, encoding, ERROR_BODY_BYTES);
    return isJson(type) ? parse(bytes) : undefined;
  } catch (error) {
    // The body of an error is optional.
    if (error instanceof OutboundError) return undefined;
    throw error;
  }
}

function parse(bytes: Buffer): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch (cause) {
    throw new OutboundError('not-json', 'the answer is not JSON', { cause });
  }
}

function isJson(type: string | undefined): boolean {
  return type !== undefined && /^application\/([\w.+-]+\+)?json\s*(;|$)/i.test(type);
}

/** Maximum number of characters of a cause. */
const MAX_CAUSE = 200;

function asOutboundError(error: unknown): OutboundError {
  if (error instanceof OutboundError) return error;
  if (error instanceof Error && error.cause instanceof OutboundError) return error.cause;
  const code = error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';
  const cause = reasonOf(error).slice(0, MAX_CAUSE);
  const broken = ['UND_ERR_SOCKET', 'ECONNRESET', 'EPIPE', 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH'].includes(code);
  if (broken) return new OutboundError('broken-off', `the connection broke (${cause})`, { cause: error });
  if (/TIMEOUT/.test(code)) return new OutboundError('timeout', `no answer in time (${cause})`, { cause: error });
  return new OutboundError('unreachable', `no connection (${cause})`, { cause: error });
}

/** How many milliseconds an answer says it stays fresh (RFC 9111 section 4.2); 0 when it does not say. */
export function freshForMs(cacheControl: string | undefined, age: string | undefined): number {
  if (cacheControl === undefined || /(^|[\s,])no-(store|cache)\b/i.test(cacheControl)) return 0;
  const maxAge = /(?:^|[\s,])max-age="?(\d{1,9})/i.exec(cacheControl)?.[1];
  if (maxAge === undefined) return 0;
  const old = age !== undefined && /^\d{1,9}$/.test(age) ? Number(age) : 0;
  return Math.max(0, Number(maxAge) - old) * 1000;
}
