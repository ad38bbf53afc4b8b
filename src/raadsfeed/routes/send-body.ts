import { hash } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { AnswerStore } from '../pages/answer-store.ts';
import type { FeedRow } from '../store/read-feed-row.ts';
import { chooseEncoding, compress, type Encoding, WORTH_COMPRESSING_BYTES } from './encoding.ts';

export interface BodyOptions {
  /** The plain body, and how it is compressed when there is a better way than doing it now. */
  readonly body: Buffer | string;
  readonly compressed?: ((encoding: Exclude<Encoding, 'identity'>) => Promise<Buffer>) | undefined;
  /** Absent: made from the body. */
  readonly etag?: string;
  readonly maxAgeSeconds: number;
  readonly link?: string | undefined;
  readonly contentType?: string;
  /** Names of request headers beside `Accept-Encoding` that the answer depends on. */
  readonly vary?: string;
  /** Given when the answer is the same as long as the feed stands as it does: then it is kept, to be given again. */
  readonly keep?: { readonly answers: AnswerStore; readonly feed: FeedRow };
}

/** Sends a public body: cache rule, `ETag` with 304, compressed as the client likes. */
export async function sendBody(
  request: FastifyRequest,
  reply: FastifyReply,
  options: BodyOptions,
): Promise<FastifyReply> {
  const { body, link } = options;
  const etag = options.etag ?? weakEtag(body);
  reply.headers({
    'cache-control': `public, max-age=${options.maxAgeSeconds}`,
    etag,
    vary: options.vary === undefined ? 'Accept-Encoding' : `Accept-Encoding, ${options.vary}`,
    ...(link === undefined ? {} : { link }),
  });
  const tag = request.headers['if-none-match'];
  if (matches(tag, etag)) {
    reply.code(304);
    if (tag === etag) keep(request, reply, options, etag, undefined);
    return reply.send();
  }
  reply.header('content-type', options.contentType ?? 'application/json; charset=utf-8');
  const encoding = chooseEncoding(request.headers['accept-encoding']?.toString());
  const plain = Buffer.isBuffer(body) ? body : Buffer.from(body);
  let bytes = plain;
  if (encoding !== 'identity' && plain.length >= WORTH_COMPRESSING_BYTES) {
    bytes = await (options.compressed?.(encoding) ?? compress(plain, encoding));
    reply.header('content-encoding', encoding);
  }
  reply.header('content-length', String(bytes.length));
  if (tag === undefined) keep(request, reply, options, etag, bytes);
  return reply.send(bytes);
}

/** Notes an answer as it goes out now, headers of the hooks included. */
function keep(
  request: FastifyRequest,
  reply: FastifyReply,
  options: BodyOptions,
  etag: string,
  body: Buffer | undefined,
): void {
  if (options.keep === undefined || request.method !== 'GET') return;
  const headers = Object.entries(reply.getHeaders()).flatMap(([name, value]) =>
    value === undefined ? [] : [name, String(value)],
  );
  const { answers, feed } = options.keep;
  answers.keep(request.raw, feed, etag, {
    status: body === undefined ? 304 : 200,
    headers,
    body,
    route: request.routeOptions.url ?? 'unknown',
    remainingAt: valueAt(headers, 'x-ratelimit-remaining'),
    resetAt: valueAt(headers, 'x-ratelimit-reset'),
  });
}

function valueAt(headers: readonly string[], name: string): number {
  const at = headers.findIndex((text, i) => i % 2 === 0 && text === name);
  return at === -1 ? -1 : at + 1;
}

/** Whether `If-None-Match` names this tag; the comparison is the weak one (RFC 9110 13.1.2). */
export function matches(ifNoneMatch: string | undefined, etag: string): boolean {
  if (ifNoneMatch === undefined) return false;
  if (ifNoneMatch === etag || ifNoneMatch.trim() === '*') return true;
  const opaque = etag.replace(/^W\//, '');
  return ifNoneMatch.split(',').some((tag) => tag.trim().replace(/^W\//, '') === opaque);
}

function weakEtag(body: Buffer | string): string {
  return `W/"${hash('sha256', body, 'base64url').slice(0, 22)}"`;
}
