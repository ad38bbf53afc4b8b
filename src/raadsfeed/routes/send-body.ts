import { hash } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { chooseEncoding, compress, WORTH_COMPRESSING_BYTES } from './encoding.ts';

export interface BodyOptions {
  readonly body: string;
  /** Absent: made from the body. */
  readonly etag?: string;
  readonly maxAgeSeconds: number;
  readonly link?: string | undefined;
  readonly contentType?: string;
  /** Names of request headers beside `Accept-Encoding` that the answer depends on. */
  readonly vary?: string;
}

/** Sends a public body: cache rule, `ETag` with 304, compressed as the client likes. */
export async function sendBody(
  request: FastifyRequest,
  reply: FastifyReply,
  options: BodyOptions,
): Promise<FastifyReply> {
  const { body, etag = weakEtag(body), link } = options;
  reply.headers({
    'cache-control': `public, max-age=${options.maxAgeSeconds}`,
    etag,
    vary: options.vary === undefined ? 'Accept-Encoding' : `Accept-Encoding, ${options.vary}`,
    ...(link === undefined ? {} : { link }),
  });
  if (matches(request.headers['if-none-match'], etag)) return reply.code(304).send();
  reply.type(options.contentType ?? 'application/json; charset=utf-8');
  const bytes = Buffer.from(body);
  const encoding = chooseEncoding(headerText(request.headers['accept-encoding']));
  if (encoding === 'identity' || bytes.length < WORTH_COMPRESSING_BYTES) return reply.send(bytes);
  return reply.header('content-encoding', encoding).send(await compress(bytes, encoding));
}

/** Whether `If-None-Match` names this tag; the comparison is the weak one (RFC 9110 13.1.2). */
export function matches(ifNoneMatch: string | undefined, etag: string): boolean {
  if (ifNoneMatch === undefined) return false;
  if (ifNoneMatch === etag || ifNoneMatch.trim() === '*') return true;
  const opaque = etag.replace(/^W\//, '');
  return ifNoneMatch.split(',').some((tag) => tag.trim().replace(/^W\//, '') === opaque);
}

function weakEtag(body: string): string {
  return `W/"${hash('sha256', body, 'base64url').slice(0, 22)}"`;
}

function headerText(header: string | string[] | undefined): string | undefined {
  return Array.isArray(header) ? header.join(',') : header;
}
