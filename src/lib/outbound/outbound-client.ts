/** Calls for JSON to services named by an operator, or by a document of such a service, with limits on everything. */
import { isUtf8 } from 'node:buffer';
import type { Dispatcher } from 'undici';
import { JsonCounter, parseCounted, parseIfJson } from '../json/parse-untrusted.ts';
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
  resolveIpv4,
} from './guarded-fetch.ts';
import { OutboundError } from './outbound-error.ts';

const MAX_REDIRECTS = 3;
const ERROR_BODY_BYTES = 65_536;
const CONNECT_TIMEOUT_MS = 10_000;
const OWN_HEADERS = { 'accept-encoding': ACCEPT_ENCODING, 'user-agent': 'koppelvlak' };
const JSON_TYPE = /^application\/([\w.+-]+\+)?json\s*(;|$)/i;

interface OutboundOptions {
  readonly clock: Clock;
  /** Time in milliseconds for one call, redirects and body included. */
  readonly timeoutMs: number;
  /** Largest answer in bytes, after decompression. */
  readonly maxBytes: number;
  readonly connections: number;
  readonly proxy?: ProxySettings | undefined;
  /** Allows loopback and private addresses; never link-local ones, nor those of a cloud's metadata service. */
  readonly allowPrivate: boolean;
  /** Connects over IPv4 only, for hosts that identify callers by such an address. */
  readonly ipv4Only?: boolean;
  /** Addresses that receive the trace context of a call; absent: no address does. */
  readonly traceContextTo?: readonly string[];
}

export interface OutboundRequest {
  readonly url: string;
  readonly signal: AbortSignal;
  /** The ETag of an earlier answer from the same address. */
  readonly etag?: string | undefined;
  /** `any-host` is for an address whose purpose is to redirect; never from https to http. With `none` a redirect is an unexpected status. */
  readonly redirects: RedirectPolicy;
}

/** A 200 answer, parsed but not validated, or a 304. */
export type OutboundAnswer = {
  readonly url: string;
  readonly etag: string | undefined;
  readonly freshForMs: number;
} & ({ readonly changed: true; readonly json: unknown; readonly bytes: number } | { readonly changed: false });

export interface OutboundTextRequest extends OutboundRequest {
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
  /** The `content-type` of a usable answer. */
  readonly accepts: RegExp;
}

export type OutboundClient = ReturnType<typeof createOutboundClient>;

export function createOutboundClient(options: OutboundOptions) {
  const { clock, timeoutMs, maxBytes, allowPrivate, proxy, traceContextTo = [] } = options;
  const connections = createGuardedConnections({
    rules: { allowPrivate, ...(options.ipv4Only === true ? { resolve: resolveIpv4 } : {}) },
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

  /** The body of a 200 answer of an expected type. @param problemOf reads the start of another @throws {OutboundError} */
  const readWanted = async (
    { statusCode, headers, body }: Dispatcher.ResponseData,
    wanted: RegExp,
    problemOf: (start: Buffer, type: string) => unknown,
    counter?: JsonCounter,
  ): Promise<Buffer> => {
    const encoding = headerValue(headers['content-encoding']);
    const type = headerValue(headers['content-type']);
    if (statusCode !== 200) {
      const start = await readErrorBody(body, encoding);
      throw new OutboundError('status', `status ${statusCode}`, {
        status: statusCode,
        retryAfterMs: retryAfterMs(headerValue(headers['retry-after']), clock.now()),
        problem: start && problemOf(start, type ?? ''),
      });
    }
    if (type === undefined || !wanted.test(type)) {
      body.on('error', () => undefined).destroy();
      throw new OutboundError('content-type', `content-type ${type?.slice(0, 60) ?? 'absent'}`);
    }
    return await readBody(body, encoding, maxBytes, counter);
  };

  const limited = async <T>(outer: AbortSignal, work: (signal: AbortSignal) => Promise<T>): Promise<T> => {
    const deadline = AbortSignal.timeout(timeoutMs);
    try {
      return await work(AbortSignal.any([outer, deadline]));
    } catch (error) {
      outer.throwIfAborted();
      if (deadline.aborted) throw new OutboundError('timeout', `no complete answer within ${timeoutMs} ms`);
      throw asOutboundError(error);
    }
  };

  return {
    /** @throws {OutboundError} when no usable answer came; the signal's reason when it is aborted */
    getJson: (request: OutboundRequest): Promise<OutboundAnswer> =>
      limited(request.signal, async (signal) => {
        const headers = {
          accept: 'application/json',
          ...OWN_HEADERS,
          ...(request.etag === undefined ? {} : { 'if-none-match': request.etag }),
          ...traceHeadersTo(request),
        };
        const sent = { method: 'GET', headers, signal } as const;
        const { answer, url } = await connections.request(request.url, sent, request.redirects);
        const etag = headerValue(answer.headers.etag);
        const freshFor = freshForMs(headerValue(answer.headers['cache-control']), headerValue(answer.headers.age));
        const head = { url: url.href, etag, freshForMs: freshFor };
        if (answer.statusCode === 304 && request.etag !== undefined) {
          await answer.body.dump();
          return { ...head, etag: etag ?? request.etag, changed: false };
        }
        const bytes = await readWanted(answer, JSON_TYPE, problemIn, new JsonCounter({ bytes: maxBytes }));
        return { ...head, changed: true, json: parse(bytes), bytes: bytes.length };
      }),
    /** The text of the answer to a text. The `problem` of an error with a status is the start of the body, as text. @throws as `getJson` */
    postText: (request: OutboundTextRequest): Promise<string> =>
      limited(request.signal, async (signal) => {
        const headers = { ...OWN_HEADERS, ...request.headers };
        const sent = { method: 'POST', headers, body: request.body, signal } as const;
        const { answer } = await connections.request(request.url, sent, request.redirects);
        const bytes = await readWanted(answer, request.accepts, (start) => start.toString());
        if (!isUtf8(bytes)) throw new OutboundError('encoding', 'the answer is not UTF-8');
        return new TextDecoder().decode(bytes);
      }),
    close: connections.close,
  };
}

/** The body of an error is optional: `undefined` for one that is too large, or broke off. */
async function readErrorBody(
  body: Dispatcher.ResponseData['body'],
  encoding: string | undefined,
): Promise<Buffer | undefined> {
  try {
    return await readBody(body, encoding, ERROR_BODY_BYTES);
  } catch (error) {
    if (error instanceof OutboundError) return undefined;
    throw error;
  }
}

function problemIn(start: Buffer, type: string): unknown {
  return JSON_TYPE.test(type) ? parseIfJson(start, { bytes: ERROR_BODY_BYTES }) : undefined;
}

function parse(bytes: Buffer): unknown {
  try {
    return parseCounted(bytes);
  } catch (cause) {
    throw new OutboundError('not-json', 'the answer is not JSON', { cause });
  }
}

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

/** How many milliseconds an answer stays fresh (RFC 9111 section 4.2); 0 when it does not say. */
export function freshForMs(cacheControl: string | undefined, age: string | undefined): number {
  if (cacheControl === undefined || /(^|[\s,])no-(store|cache)\b/i.test(cacheControl)) return 0;
  const maxAge = /(?:^|[\s,])max-age="?(\d{1,9})/i.exec(cacheControl)?.[1];
  if (maxAge === undefined) return 0;
  const old = age !== undefined && /^\d{1,9}$/.test(age) ? Number(age) : 0;
  return Math.max(0, Number(maxAge) - old) * 1000;
}
