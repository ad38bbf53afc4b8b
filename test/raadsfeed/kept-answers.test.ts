/** The answer cache: what it keeps, and in how many bytes. */

import Fastify, { type FastifyInstance } from 'fastify';
import { Registry } from 'prom-client';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { Db } from '../../src/database/transaction.ts';
import { requests } from '../../src/plugins/requests.ts';
import { routes } from '../../src/plugins/routes.ts';
import { createResponseCache, type ResponseCache } from '../../src/raadsfeed/feed/response-cache.ts';
import { createFeedStateCache, type FeedStateCache } from '../../src/raadsfeed/feed/state-cache.ts';
import { collectGarbage } from '../support/garbage.ts';
import { quiet, silentListener } from './support.ts';

const headAt = (number: number, epoch: number): string => `0123456789abcdef ${number} ${epoch} 0 0 0`;

let now: number;
let stored: string;
let stateCache: FeedStateCache;
let responses: ResponseCache;
let app: FastifyInstance;

beforeEach(async () => {
  now = 0;
  stored = headAt(100, 1);
  const primary: Db = {
    async query() {
      const rows: never[] = JSON.parse(JSON.stringify([{ state: stored }]));
      return { rows, rowCount: 1, command: 'SELECT', oid: 0, fields: [] };
    },
  };
  stateCache = createFeedStateCache({ db: primary, listener: silentListener, log: quiet, now: () => now });
  responses = createResponseCache(64 * 1024 * 1024, stateCache);
  app = Fastify();
  await app.register(routes);
  app.decorate('metrics', new Registry());
  await app.register(requests, { requestTimeoutMs: 60_000, overloadEventLoopDelayMs: 0 });
});
afterEach(async () => {
  stateCache.close();
  await app.close();
});

it('does not keep a page of history that was read before a backup was restored', async () => {
  let text = 'before';
  let read = Promise.resolve();
  responses.answerFromMemory(app);
  app.get('/feed', { config: { public: true } }, (request, reply) =>
    responses.answer(request, reply, {
      records: 1,
      read: async () => {
        const found = { state: await stateCache.current(), text };
        await read;
        return { body: found.text, maxAgeSeconds: 60, isHistory: true, state: found.state };
      },
    }),
  );
  const ask = async (): Promise<string> => (await app.inject('/feed')).body;
  const gate = Promise.withResolvers<void>();
  read = gate.promise;
  const slow = ask();
  await expect.poll(() => stateCache.known()?.head.sequenceNumber).toBe(100);
  now = 10;
  stored = headAt(80, 2);
  text = 'restored';
  await stateCache.refresh();
  gate.resolve();
  expect(await slow).toBe('before');
  expect(await ask()).toBe('restored');
  text = 'later';
  expect(await ask()).toBe('restored');
});

it('reads a page for concurrent clients no more often than there is memory for', async () => {
  let reads = 0;
  responses.answerFromMemory(app);
  const state = await stateCache.current();
  app.get('/feed', { config: { public: true } }, (request, reply) =>
    responses.answer(request, reply, {
      records: 1000,
      read: async () => {
        reads += 1;
        await new Promise((resolve) => setTimeout(resolve, 10));
        return { body: 'page', maxAgeSeconds: 60, state };
      },
    }),
  );
  const answers = await Promise.all(Array.from({ length: 200 }, async () => (await app.inject('/feed')).body));
  expect(new Set(answers)).toEqual(new Set(['page']));
  expect(reads).toBeLessThan(12);
});

it('keeps a small answer in about the bytes that it counts', async () => {
  const answers = 600;
  const words = Array.from({ length: 100 }, (_, i) => `woord ${i} `.repeat(50));
  responses.answerFromMemory(app);
  const state = await stateCache.current();
  app.get('/feed', { config: { public: true } }, (request, reply) =>
    responses.answer(request, reply, { records: 1, read: async () => ({ body: words, maxAgeSeconds: 60, state }) }),
  );
  collectGarbage();
  const before = process.memoryUsage().arrayBuffers;
  for (let i = 0; i < answers; i += 1)
    await app.inject({ url: `/feed?n=${i}`, headers: { 'accept-encoding': 'gzip' } });
  collectGarbage();
  expect(responses.bytes()).toBeGreaterThan(answers * 1000);
  expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(responses.bytes() + 8 * 1024 * 1024);
});
