import { createHash } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import { PAGE_STYLE } from './pages.ts';

const STYLE_HASH = createHash('sha256').update(PAGE_STYLE).digest('base64');

/** Headers that stand on every answer; a route may replace `cache-control` and the readable documentation its policy. */
export const SECURITY_HEADERS: Readonly<Record<string, string>> = {
  'strict-transport-security': 'max-age=31536000; includeSubDomains',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'content-security-policy': `default-src 'none'; style-src 'sha256-${STYLE_HASH}'; frame-ancestors 'none'; base-uri 'none'`,
  'referrer-policy': 'no-referrer',
  'cache-control': 'no-store',
};

/** Puts the security headers on every answer, errors and unknown paths included. */
export function securityHeaders(app: FastifyInstance): void {
  app.addHook('onRequest', (_request, reply, done) => {
    reply.headers(SECURITY_HEADERS);
    done();
  });
}

/** Opens a scope to scripts of every origin (public data only). */
export function openToOrigins(app: FastifyInstance): void {
  app.addHook('onRequest', (request, reply, done) => {
    reply.header('access-control-allow-origin', '*');
    reply.header('access-control-expose-headers', 'API-Version, ETag, Link, Retry-After');
    if (request.method === 'OPTIONS') {
      reply.header('access-control-allow-methods', 'GET, HEAD, OPTIONS');
      reply.header('access-control-allow-headers', 'Accept, If-None-Match, Last-Event-ID');
      reply.header('access-control-max-age', '86400');
    }
    done();
  });
}
