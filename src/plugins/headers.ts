/** Headers: limits on those of a request, its client and trace, content negotiation (RFC 9110 section 12.5), and the security headers. */

import { createHash, randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { isIPv4, isIPv6 } from 'node:net';
import type { FastifyReply, FastifyRequest } from 'fastify';
import ipaddr from 'ipaddr.js';
import { Negotiator } from 'negotiator';
import { isRecord } from '../lib/json/json-value.ts';
import { Problem } from '../lib/problem.ts';
import { readTraceContext, type TraceContext } from '../lib/trace-context.ts';
import { refuse } from './faults.ts';
import { PAGE_STYLE } from './pages.ts';
import { platformProblems } from './problems.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Absent until first requested. @see traceOf */
    traceContext?: TraceContext | undefined;
  }
}

/** Characters of path and query: the longest path (`MAX_PARAM_LENGTH`) with a query beside it. */
export const MAX_TARGET_LENGTH = 8192;
const MAX_PARAMETERS = 100;
/** Maximum number of characters of a header that is parsed or copied, and the names of those headers. */
const MAX_LENGTH = 2048;
const PARSED_HEADERS: ReadonlySet<string> = new Set([
  ...[
    'accept',
    'accept-encoding',
    'accept-language',
    'content-type',
    'digest',
    'content-digest',
    'forwarded',
    'fsc-transaction-id',
    'host',
  ],
  ...['idempotency-key', 'if-match', 'if-modified-since', 'if-none-match', 'if-range', 'last-event-id', 'prefer'],
  ...['range', 'x-forwarded-for', 'x-forwarded-host', 'x-forwarded-proto', 'oin', 'verwerkingsactiviteitid'],
  ...['verwerkingsactiviteiturl', 'verwerkingid', 'vertrouwelijkheid', 'bewaartermijn'],
]);

/** The head as a whole may be large, because one header carries a certificate chain: so each other header is limited. @throws {Problem} */
export function checkRequestHead({ url = '', headers }: IncomingMessage): void {
  if (url.length > MAX_TARGET_LENGTH) throw new Problem(platformProblems.addressTooLong);
  if (url.split('&', MAX_PARAMETERS + 1).length > MAX_PARAMETERS) {
    throw new Problem(platformProblems.invalidRequest, { detail: 'Het adres heeft te veel parameters.' });
  }
  for (const name in headers) {
    const length = headers[name]?.length ?? 0;
    // Node joins repeated headers with `, `, and keeps a few as a list.
    if (length > MAX_LENGTH && PARSED_HEADERS.has(name)) {
      throw new Problem(platformProblems.headersTooLarge, {
        detail: `De kop \`${name}\` is langer dan ${MAX_LENGTH} tekens.`,
      });
    }
  }
}

/** Of a missing file, and of search words, where it is a blank. */
const NO_IDENTIFIERS = ['*', 'q'];

/** Refuses U+0000 in a parameter: no identifier has it, and Postgres cannot even compare with it. @throws {Problem} */
export function refuseNul({ url, params, query }: FastifyRequest): void {
  if (!url.includes('%00')) return;
  const faults = [params, query]
    .flatMap((part) => Object.entries(isRecord(part) ? part : {}))
    .filter(
      ([name, value]) => !NO_IDENTIFIERS.includes(name) && [value].flat().some((one) => String(one).includes('\0')),
    )
    .map(([name]) => ({ name, code: 'pattern', reason: 'bevat het teken U+0000, dat nergens in voorkomt' }));
  refuse(faults);
}

/** Shortens an overlong address before the router decodes it, but leaves it too long to be accepted. */
export function cutTarget({ url = '/' }: { readonly url?: string | undefined }): string {
  // Does not cut an encoded character in half.
  return url.length <= MAX_TARGET_LENGTH ? url : `${url.slice(0, MAX_TARGET_LENGTH).replace(/%.?$/, '')}...`;
}

/** The id of a request in log lines and problems; ids from clients are ignored. */
export function newRequestId(): string {
  return randomUUID();
}

/** Every occurrence of a header; of some Node keeps only the first. Cheaper than `headersDistinct`, which lists all. @param name in lower case */
export function headerValues({ headers, rawHeaders }: IncomingMessage, name: string): string[] {
  const values: string[] = [];
  // Only a header that is present can be repeated.
  if (headers[name] === undefined) return values;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const given = rawHeaders[i];
    if (given?.length === name.length && given.toLowerCase() === name) values.push(rawHeaders[i + 1] ?? '');
  }
  return values;
}

/** Whether a request has exactly one `Host`; before HTTP/1.1 it needs none. @see RFC 9112 section 3.2 */
export function namesHost(request: IncomingMessage): boolean {
  const named = headerValues(request, 'host').length;
  return named === 1 || (named === 0 && request.httpVersion === '1.0');
}

/** The trace of a request, read on first use, because nearly all answers of the feed need none. */
export function traceOf(request: FastifyRequest): TraceContext {
  const { headers } = request.raw;
  request.traceContext ??= readTraceContext(headers.traceparent, headers.tracestate, request.id);
  return request.traceContext;
}

export function fscTransaction(request: FastifyRequest): { fscTransactionId?: string } {
  const id = request.headers['fsc-transaction-id'];
  return typeof id === 'string' && /^[0-9a-fA-F-]{1,64}$/.test(id) ? { fscTransactionId: id } : {};
}

/** The media types of `offered` that `Accept` allows, most preferred first. Our JSON is UTF-8, so a client may name that character set. */
export function acceptedTypes(accept: string | undefined, offered: readonly string[]): string[] {
  if (accept === undefined) return [...offered];
  if (accept.length > MAX_LENGTH) return [];
  // The library checks every type in the header for each offered type.
  const namesCharset = accept.toLowerCase().includes('charset');
  const spelled = namesCharset ? offered.flatMap((type) => [type, `${type}; charset=utf-8`]) : [...offered];
  const accepted = new Negotiator({ headers: { accept } }).mediaTypes(spelled);
  return [...new Set(accepted.map((type) => type.replace('; charset=utf-8', '')))];
}

/** The encoding of `offered` that the client prefers, ours first among equals; `identity` when it accepts none of them. */
export function acceptedEncoding<E extends string>(
  acceptEncoding: string | undefined,
  offered: readonly E[],
): E | 'identity' {
  if (acceptEncoding === undefined || acceptEncoding.length > MAX_LENGTH) return 'identity';
  const preferred = [...offered, 'identity'];
  // `x-gzip` is another name for gzip (RFC 9110 section 8.4.1.3).
  const headers = { 'accept-encoding': acceptEncoding.replaceAll(/\bx-gzip\b/gi, 'gzip') };
  const [best] = new Negotiator({ headers }).encodings(preferred, { preferred });
  return offered.find((encoding) => encoding === best) ?? 'identity';
}

/** Whether `If-None-Match` names this tag; the comparison is the weak one (RFC 9110 13.1.2). */
export function isKnown({ headers }: FastifyRequest, etag: string): boolean {
  const ifNoneMatch = headers['if-none-match'];
  if (ifNoneMatch === undefined) return false;
  if (ifNoneMatch === etag || ifNoneMatch.trim() === '*') return true;
  const opaque = etag.replace(/^W\//, '');
  return ifNoneMatch.split(',').some((tag) => tag.trim().replace(/^W\//, '') === opaque);
}

/** Whether a `Content-Type` names a character set other than UTF-8, which some clients spell `utf8`. */
export function hasOtherCharset(contentType: string | undefined): boolean {
  const charset = /;\s*charset\s*=\s*"?([^";\s]+)/i.exec(contentType ?? '')?.[1];
  return charset !== undefined && !/^utf-?8$/i.test(charset);
}

/** A subscriber has a whole IPv6 network: this many 16-bit groups identify it. */
const IPV6_GROUPS = 4;

/** IPv4, or the /64 of IPv6. Text from outside is never kept: when `X-Forwarded-For` has something else, the address of the connection counts. */
export function clientAddress(request: FastifyRequest): string {
  return normalise(request.ip) ?? normalise(request.socket.remoteAddress) ?? 'unknown';
}

/** The client that a call counts for: the subject of its verified token, else its address. */
export function clientKey(request: FastifyRequest): string {
  const { caller } = request;
  return caller === undefined ? `address ${clientAddress(request)}` : `subject ${caller.kind} ${caller.subject}`;
}

function normalise(text: string | undefined): string | undefined {
  // Nearly every address is this one, and parsing it takes longer than everything else that counts a client.
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

const STYLE_HASH = createHash('sha256').update(PAGE_STYLE).digest('base64');

/** Headers of every answer; a route may replace `cache-control`, and the documentation pages their policy. */
export const SECURITY_HEADERS: Readonly<Record<string, string>> = {
  'strict-transport-security': 'max-age=31536000; includeSubDomains',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'content-security-policy': `default-src 'none'; style-src 'sha256-${STYLE_HASH}'; img-src 'self'; frame-ancestors 'none'; base-uri 'none'`,
  'referrer-policy': 'no-referrer',
  'cache-control': 'no-store',
};

export function setOrigins({ method }: FastifyRequest, reply: FastifyReply): void {
  reply.header('access-control-allow-origin', '*');
  reply.header('access-control-expose-headers', 'API-Version, ETag, Link, Retry-After');
  if (method === 'OPTIONS') {
    reply.header('access-control-allow-methods', 'GET, HEAD, OPTIONS');
    reply.header('access-control-allow-headers', 'Accept, If-None-Match, Last-Event-ID');
    reply.header('access-control-max-age', '86400');
  }
}
