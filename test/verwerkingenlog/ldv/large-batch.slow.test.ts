/** Batches of the maximum size: they arrive completely, once, and delay nobody. */
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createDatabase, type TestDatabase } from '../../support/database.ts';
import { type LdvServer, line, startLdv } from './support.ts';

let log: LdvServer;
let database: TestDatabase;
let client: pg.Client;
beforeAll(async () => {
  database = await createDatabase();
  client = new pg.Client(database.url);
  await client.connect();
  log = await startLdv({
    databaseUrl: database.url,
    env: { 'database.statementTimeoutMs': '60000', 'server.requestTimeoutMs': '120000' },
  });
});
afterAll(async () => {
  await log.stop();
  await client.end();
  await database.drop();
});

/** More than the two groups of 5000 that are stored at a time. */
const SPANS = 11_000;

it(`accepts ${SPANS} spans in one request, each once`, async () => {
  const spans = Array.from({ length: SPANS }, (_, i) => line({ name: `Regel ${i}` }));
  const { status, answer } = await log.send(spans, { subject: 'groot', gzip: true });
  expect([status, answer]).toEqual([200, { rejectedSpans: 0, errorMessage: '' }]);
  const count = async () =>
    (await client.query(`select count(*)::int as n from verwerkingenlog.versies where door = 'groot'`)).rows[0].n;
  expect(await count()).toBe(SPANS);
  expect((await log.send(spans, { subject: 'groot', form: 'json' })).answer?.rejectedSpans).toBe(0);
  expect(await count()).toBe(SPANS);
});

it('does not let a batch delay a single action', async () => {
  const spans = Array.from({ length: 6000 }, () => line());
  const batch = log.send(spans, { subject: 'batch' });
  let slowest = 0;
  const sent = performance.now();
  let isDone = false;
  void batch.finally(() => {
    isDone = true;
  });
  while (!isDone) {
    const began = performance.now();
    const body = { vertrouwelijkheid: 'normaal', tijdstip: '2026-01-15T13:35:42Z', verwerkteObjecten: [] };
    expect((await log.call(['create:normal'], 'POST', '/verwerkingsacties', body)).status).toBe(201);
    slowest = Math.max(slowest, performance.now() - began);
    await sleep(5);
  }
  expect((await batch).answer?.rejectedSpans).toBe(0);
  const took = performance.now() - sent;
  // A delayed one waits for nearly all of it.
  expect(slowest).toBeLessThan(took * 0.6);
});
