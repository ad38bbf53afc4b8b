/** An answer that is asked for by many at once, and is in no cache yet, is compressed once; who has it already makes no body. */
import Fastify from 'fastify';
import { expect, it } from 'vitest';
import { requests } from '../../src/plugins/requests.ts';
import { routes } from '../../src/plugins/routes.ts';
import { createHeadCache } from '../../src/raadsfeed/feed/head.ts';
import { createResponseCache } from '../../src/raadsfeed/feed/response-cache.ts';
import { quiet, silentListener } from './support.ts';

it('shares the work among requests for the very same, and does none for a 304', async () => {
  const heads = createHeadCache({
    primary: { query: () => Promise.reject(new Error('away')) },
    listener: silentListener,
    log: quiet,
  });
  const responses = createResponseCache(0, heads);
  const app = Fastify();
  await app.register(routes);
  await app.register(requests, { requestTimeoutMs: 60_000, overloadEventLoopDelayMs: 0 });
  let bodies = 0;
  let etag = '"1"';
  app.get('/feed', { config: { public: true } }, (request, reply) =>
    responses.answer(request, reply, 1, async () => ({
      body: () => {
        bodies += 1;
        return 'inhoud '.repeat(400_000);
      },
      etag,
      maxAgeSeconds: 60,
    })),
  );
  const ask = (query: string, headers: Record<string, string>) => app.inject({ url: `/feed${query}`, headers });
  const br = { 'accept-encoding': 'br' };
  try {
    const same = await Promise.all(Array.from({ length: 10 }, () => ask('', br)));
    expect(same.map(({ headers }) => headers['content-encoding'])).toEqual(same.map(() => 'br'));
    expect(new Set(same.map(({ rawPayload }) => rawPayload.toString('base64'))).size).toBe(1);
    expect(bodies).toBe(1);
    // Another encoding, another query, another state of the feed: each is an answer of its own.
    const first = ask('', br);
    await expect.poll(() => bodies, { interval: 1 }).toBe(2);
    etag = '"2"';
    await Promise.all([first, ask('', br), ask('', { 'accept-encoding': 'gzip' }), ask('?limit=7', br)]);
    expect(bodies).toBe(5);
    expect((await ask('', { ...br, 'if-none-match': '"2"' })).statusCode).toBe(304);
    expect(bodies).toBe(5);
  } finally {
    heads.close();
    await app.close();
  }
});
