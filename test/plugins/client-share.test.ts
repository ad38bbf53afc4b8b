/** A client that disconnects: its request counts until its work has ended. */
import fastify from 'fastify';
import { Registry } from 'prom-client';
import { afterEach, expect, it } from 'vitest';
import { createClientShare } from '../../src/plugins/limits.ts';
import { requests } from '../../src/plugins/requests.ts';
import { routes } from '../../src/plugins/routes.ts';
import { openPool } from '../database/support.ts';

const app = fastify();
// A client may have one of two connections; no database is reachable.
const pool = openPool('postgres://127.0.0.1:9/nergens', { size: 2 });
afterEach(async () => {
  await app.close();
  await pool.end();
});

it('waits for the handler as well as for the exchange', async () => {
  const begun: string[] = [];
  const works = new Map<string, () => void>();
  await app.register(routes);
  app.decorate('metrics', new Registry());
  await app.register(requests, { requestTimeoutMs: 60_000, overloadEventLoopDelayMs: 0 });
  app.addHook('onRequest', (request, _reply, done) => {
    request.caller = { kind: 'oauth', subject: 'balie', scopes: new Set(), tokenHash: '' };
    done();
  });
  createClientShare({ pool, waitMs: 5000 })(app);
  app.get<{ Params: { name: string } }>('/:name', { config: { public: true } }, async ({ params: { name } }) => {
    begun.push(name);
    await new Promise<void>((resolve) => works.set(name, resolve));
    return { name };
  });
  const url = await app.listen({ host: '127.0.0.1', port: 0 });
  const ask = (name: string, signal?: AbortSignal) => fetch(`${url}/${name}`, signal === undefined ? {} : { signal });

  const leaving = new AbortController();
  const left = ask('eerste', leaving.signal).catch(() => 'gone');
  await expect.poll(() => begun).toEqual(['eerste']);
  const next = ask('tweede');
  leaving.abort();
  expect(await left).toBe('gone');
  await new Promise((resolve) => setTimeout(resolve, 300));
  expect(begun).toEqual(['eerste']);
  works.get('eerste')?.();
  await expect.poll(() => begun).toEqual(['eerste', 'tweede']);
  works.get('tweede')?.();
  expect((await next).status).toBe(200);
});
