/** Client-controlled parts of a request take no uncounted memory. */
import { randomBytes } from 'node:crypto';
import Fastify from 'fastify';
import { Registry } from 'prom-client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Db } from '../../src/database/transaction.ts';
import { acceptedEncoding } from '../../src/plugins/headers.ts';
import { requests } from '../../src/plugins/requests.ts';
import { routes } from '../../src/plugins/routes.ts';
import { createResponseCache } from '../../src/raadsfeed/feed/response-cache.ts';
import { createFeedStateCache } from '../../src/raadsfeed/feed/state-cache.ts';
import { processorMs } from '../support/processor-time.ts';
import { document, type FeedServer, quiet, silentListener, startFeed } from './support.ts';

let feed: FeedServer;
beforeAll(async () => {
  feed = await startFeed({ TRUST_PROXY: '1', RAADSFEED_RATE_LIMIT: '1000000' });
  await feed.publish(Array.from({ length: 20 }, (_, i) => document(`d-${i}`)));
});
afterAll(() => feed.stop());

async function cacheBytes(): Promise<number> {
  const metrics = await (await fetch(`${feed.server.managementUrl}/metrics`)).text();
  return Number(/^koppelvlak_raadsfeed_cache_bytes (\d+)/m.exec(metrics)?.[1]);
}

/** Requests the same page over and over, each time in another spelling. */
async function ask(count: number, words: (i: number) => { query?: string; headers?: Record<string, string> }) {
  const statuses = new Set<number>();
  for (let from = 0; from < count; from += 20) {
    await Promise.all(
      Array.from({ length: 20 }, async (_, i) => {
        const { query = '', headers = {} } = words(from + i);
        const answer = await fetch(`${feed.mount}/feed?limit=3${query}`, { headers });
        await answer.arrayBuffer();
        statuses.add(answer.status);
      }),
    );
  }
  return [...statuses];
}

describe('the memory for answers', () => {
  it.each<[string, (i: number) => { query?: string; headers?: Record<string, string> }]>([
    ['empty parameters', (i) => ({ query: '&'.repeat(1 + (i % 90)) })],
    ['the order and form of parameters', (i) => ({ query: `&organisatiecode=${i % 2 ? 'gm' : 'GM'}9901` })],
    ['Accept-Encoding', (i) => ({ headers: { 'accept-encoding': `identity;q=0.${i}, ${'x'.repeat(50)}${i}` } })],
    [
      'X-Forwarded-For',
      (i) => ({ headers: { 'x-forwarded-for': `192.0.2.${i % 250}, ${'10.0.0.1, '.repeat(50)}10.0.${i}.1` } }),
    ],
  ])('does not grow with %s', async (_what, words) => {
    await ask(20, words);
    const before = await cacheBytes();
    expect(await ask(300, words)).toEqual([200]);
    expect(await cacheBytes()).toBeLessThan(before + 20_000);
  });

  it('is not used for an unknown parameter', async () => {
    const before = await cacheBytes();
    expect(await ask(40, (i) => ({ query: `&onbekend${i}=1` }))).toEqual([400]);
    expect(await cacheBytes()).toBe(before);
  });

  const rows: never[] = JSON.parse('[{ "state": "0123456789abcdef 100 1 0 0 0" }]');
  const primary: Db = { query: async () => ({ rows, rowCount: 1, command: 'SELECT', oid: 0, fields: [] }) };
  const encodings = ['zstd', 'br', 'gzip', 'identity'];

  /** Incompressible answers of this many bytes, from a cache of this many. */
  async function fill(maxBytes: number, bodyBytes: number, asked: readonly (readonly [string, string])[]) {
    const stateCache = createFeedStateCache({ db: primary, listener: silentListener, log: quiet });
    const responses = createResponseCache(maxBytes, stateCache);
    const app = Fastify({ routerOptions: { maxParamLength: 5000 } });
    await app.register(routes);
    app.decorate('metrics', new Registry());
    await app.register(requests, { requestTimeoutMs: 60_000, overloadEventLoopDelayMs: 0 });
    responses.answerFromMemory(app);
    const body = randomBytes(bodyBytes).toString('hex');
    app.get('/:name', { config: { public: true } }, (request, reply) =>
      responses.answer(request, reply, {
        records: 1,
        read: async () => ({ body, maxAgeSeconds: 5, state: await stateCache.current() }),
      }),
    );
    for (const [url, encoding] of asked) await app.inject({ url, headers: { 'accept-encoding': encoding } });
    await app.close();
    stateCache.close();
    return responses.bytes();
  }

  it('counts its keys', async () => {
    const names = Array.from({ length: 100 }, (_, i) => [`/${'k'.repeat(2000)}${i}`, 'identity'] as const);
    const bytes = await fill(100_000, 1, names);
    expect(bytes).toBeLessThanOrEqual(100_000);
    expect(bytes).toBeGreaterThan(90_000);
  });

  it('counts each encoding of an answer', async () => {
    const bytes = await fill(
      1_000_000,
      50_000,
      encodings.map((encoding) => ['/page', encoding]),
    );
    expect(bytes).toBeGreaterThan(240_000);
  });

  it('caches nothing when it is disabled', async () => {
    expect(await fill(0, 1, [['/page', 'identity']])).toBe(0);
  });
});

it('an overlong `Accept-Encoding` is not parsed', () => {
  const took = processorMs(() => {
    for (let i = 0; i < 100; i += 1)
      expect(acceptedEncoding(`gzip, ${'br;q=0.1,'.repeat(6000)}`, ['br', 'gzip'])).toBe('identity');
  });
  expect(took).toBeLessThan(100);
});
