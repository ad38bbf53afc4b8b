/** The page on which anybody checks a record with its proof. It loads a script and a style, and calls nothing after that. */
import { readFileSync } from 'node:fs';
import type { FastifyInstance } from 'fastify';
import { escapeHtml } from '../../lib/template.ts';

const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'none'",
  "connect-src 'none'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ');

const CACHE = 'public, max-age=300';

function readPart(name: string): string {
  return readFileSync(new URL(name, import.meta.url), 'utf8');
}

/** @param keys verifier keys, of logs and of witnesses, that the page offers; the reader may enter others */
export function controlePage(app: FastifyInstance, keys: () => Promise<readonly string[]>): void {
  const page = readPart('controleer.html');
  app.get('/controleer', { config: { public: true } }, async (_request, reply) => {
    const offered = (await keys()).join('\n');
    return reply
      .headers({ 'content-security-policy': POLICY, 'cache-control': CACHE, 'referrer-policy': 'no-referrer' })
      .type('text/html; charset=utf-8')
      .send(page.replace('{{sleutels}}', () => escapeHtml(offered)));
  });
  for (const [name, type] of [
    ['controleer.css', 'text/css'],
    ['controleer.js', 'text/javascript'],
  ] as const) {
    const text = readPart(name);
    app.get(`/controleer/${name}`, { config: { public: true } }, (_request, reply) =>
      reply.header('cache-control', CACHE).type(`${type}; charset=utf-8`).send(text),
    );
  }
}
