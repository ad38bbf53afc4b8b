/** `/.well-known/security.txt` (RFC 9116): where to report a vulnerability of this service. */
import { readFile } from 'node:fs/promises';
import type { FastifyInstance } from 'fastify';
import { Problem } from '../lib/problem.ts';
import { expiryOfSecurityTxt } from '../lib/security-txt.ts';
import { platformProblems } from './problems.ts';

/** Serves the operator's file at the root of the host; without one the address does not exist. */
export function securityTxt(app: FastifyInstance): void {
  const { settings, clock } = app;
  const { securityTxt: path } = settings.server;
  if (path === undefined) return;
  app.get('/.well-known/security.txt', { config: { public: true } }, async (_request, reply) => {
    const text = await readFile(path, 'utf8');
    const expires = expiryOfSecurityTxt(text);
    // An expired file must not be relied on: 404 sends the finder to look elsewhere.
    if (expires === undefined || expires <= clock.now()) throw new Problem(platformProblems.notFound);
    return reply.header('cache-control', 'public, max-age=3600').type('text/plain; charset=utf-8').send(text);
  });
}
