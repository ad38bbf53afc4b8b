/** Texts are in partitions of 100 000 numbers, created ahead; removed content disappears from their files without blocking others. */
import pg from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { transaction } from '../../src/database/transaction.ts';
import { lockFeedRow } from '../../src/raadsfeed/store/records.ts';
import { ensureTextPartitions, rewritePartitions } from '../../src/raadsfeed/store/text-partitions.ts';
import { filesWith } from './database-files.ts';
import { generateHistory } from './generate-history.ts';
import {
  asPage,
  document,
  type FeedServer,
  PATIENT,
  redactAndDie,
  removal,
  startFeed,
  vergadering,
} from './support.ts';

const SECRET = 'Persoonsgegeven-Van-De-Vries';
const BORDER = 100_000;

let feed: FeedServer;
let owner: pg.Client;
beforeAll(async () => {
  feed = await startFeed();
  owner = new pg.Client({ connectionString: feed.databaseUrl });
  await owner.connect();
});
afterAll(async () => {
  await owner.end();
  await feed.stop();
});

async function partitions(): Promise<string[]> {
  const { rows } = await owner.query(
    `select inhrelid::regclass::text as name from pg_inherits where inhparent = 'raadsfeed.texts'::regclass order by 1`,
  );
  return rows.map(({ name }) => String(name));
}

it('is created ahead by the service, which may create no other table', async () => {
  expect(await partitions()).toEqual(['raadsfeed.texts_from_0', 'raadsfeed.texts_from_100000']);
  await feed.publish([document('d-1', { omschrijving: SECRET }), vergadering('v-1')]);
  await generateHistory(owner, 3, BORDER - 5);
  await owner.query('notify raadsfeed');
  const { rows } = await owner.query('select head_epoch from raadsfeed.feed');
  expect(rows).toEqual([{ head_epoch: 0 }]);
  await feed.publish(Array.from({ length: 10 }, (_, i) => document(`grens-${i}`, { omschrijving: SECRET })));
  // In the second half of the last partition the next one is created.
  await transaction(feed.pool, async (client) => ensureTextPartitions(client, await lockFeedRow(client), 160_000));
  expect(await partitions()).toEqual(['0', '100000', '200000'].map((first) => `raadsfeed.texts_from_${first}`));
  await expect(feed.pool.query('create table raadsfeed.iets (n int)')).rejects.toThrow(/permission denied/);
});

it('gives a page across the boundary in order', async () => {
  const all = asPage((await feed.api.call('GET', '/feed?organisatiecode=gm9901')).json);
  expect(all.records.map(({ sequenceNumber }) => sequenceNumber)).toEqual([
    ...[1, 2],
    ...Array.from({ length: 10 }, (_, i) => BORDER - 4 + i),
  ]);
  const first = asPage((await feed.api.call('GET', '/feed?organisatiecode=gm9901&limit=3')).json);
  const page = asPage((await feed.api.call('GET', `/feed?cursor=${first.cursor}`)).json);
  expect(page.records.map(({ sequenceNumber }) => sequenceNumber)).toEqual(
    Array.from({ length: 9 }, (_, i) => BORDER - 3 + i),
  );
});

it('is rewritten while others read and publish, even at the head, and has their publications', async () => {
  let isDone = false;
  let longest = 0;
  let published = 0;
  /** @returns how often it was done before the end */
  const timed = async (work: () => Promise<unknown>): Promise<number> => {
    for (let done = 0; ; done += 1) {
      const startedAt = performance.now();
      await work();
      longest = Math.max(longest, performance.now() - startedAt);
      if (isDone) return done;
    }
  };
  const readers = ['/feed?limit=3&organisatiecode=gm9901', '/snapshot?limit=5&resourceType=Vergadering'].map((path) =>
    timed(async () => expect((await fetch(feed.mount + path)).status).toBe(200)),
  );
  const writer = timed(async () => {
    published += 1;
    await feed.publish([vergadering(`tijdens-${published}`)]);
  });
  const began = performance.now();
  await feed.publish([
    removal('redact', 'Informatieobject', 'd-1'),
    ...Array.from({ length: 10 }, (_, i) => removal('redact', 'Informatieobject', `grens-${i}`)),
  ]);
  const took = performance.now() - began;
  isDone = true;
  const done = await Promise.all([...readers, writer]);
  expect(await filesWith(feed.databaseUrl, SECRET)).toEqual([]);
  const { rows } = await owner.query(
    `select (select count(*) from raadsfeed.texts)::int as texts, (select head from raadsfeed.feed)::int as head`,
  );
  expect(rows[0].texts).toBe(rows[0].head);
  expect(published).toBeGreaterThan(0);
  // A lock for the duration of the copy would block one of them for nearly all of that time, so that it would be done once or twice. A slow
  // machine alone can block one for half of it.
  expect(longest).toBeLessThan(took * 0.8);
  expect(Math.min(...done)).toBeGreaterThan(3);
});

it('is retried when a reader keeps it open, and no other reader queues behind it', async () => {
  await feed.publish([document('open', { omschrijving: SECRET })]);
  await redactAndDie(feed.pool, 'open');
  await owner.query('begin; select count(*) from raadsfeed.texts where sequence_number > 100000');
  const rewriting = rewritePartitions(feed.pool);
  const waits: number[] = [];
  for (let i = 0; i < 10; i += 1) {
    const startedAt = performance.now();
    await feed.publish([vergadering(`wacht-${i}`)]);
    waits.push(performance.now() - startedAt);
  }
  // Behind the reader they would wait until their statement times out.
  expect(Math.max(...waits)).toBeLessThan(10_000);
  await owner.query('commit');
  expect(await rewriting).toBe(1);
  expect(await filesWith(feed.databaseUrl, SECRET)).toEqual([]);
});

it('is dropped when all of it was pruned', async () => {
  await owner.query('delete from raadsfeed.current_records where sequence_number < 100000');
  // Most of it is removed directly: pruning a hundred thousand records takes seconds, and the last ten thousand show the same.
  for (const table of ['texts', 'records']) {
    await owner.query(`delete from raadsfeed.${table} where sequence_number between 10 and 90000`);
  }
  await owner.query(`update raadsfeed.records set stored_at = '2020-01-01' where sequence_number <= ${BORDER}`);
  const { pruneHistory } = await import('../../src/raadsfeed/store/prune.ts');
  await pruneHistory(feed.pool, {
    before: new Date('2021-01-01'),
    graceMs: 0,
    signal: new AbortController().signal,
    progress: () => undefined,
  });
  await rewritePartitions(feed.pool);
  expect(await partitions()).not.toContain('raadsfeed.texts_from_0');
  await expect
    .poll(async () => asPage((await feed.api.call('GET', '/feed?limit=1')).json).records[0]?.sequenceNumber, PATIENT)
    .toBe(BORDER + 1);
});
