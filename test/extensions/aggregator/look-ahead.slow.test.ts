/** Pages that are read ahead, to explain numbers that are missing, are part of a turn: a slow source does not keep others waiting. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { findSource, setPaused } from '../../../src/extensions/aggregator/store/sources.ts';
import { type FeedServer, readRecords } from '../../raadsfeed/support.ts';
import { FakeSource } from './fake-source.ts';
import { eventually, follow, sourceState, startAggregator } from './support.ts';

let aggregator: FeedServer;
let slow: FakeSource;
let quick: FakeSource;

beforeAll(async () => {
  aggregator = await startAggregator({ AGGREGATOR_CONCURRENCY: '1', AGGREGATOR_BACKOFF_MAX_MS: '50' });
  slow = await new FakeSource('gm0001').listen();
  quick = await new FakeSource('gm0002').listen();
});
afterAll(async () => {
  await aggregator.stop();
  await slow.close();
  await quick.close();
});

it('in several runs, between which other sources are read', async () => {
  slow.document('d-1');
  await follow(aggregator.pool, slow.url);
  await eventually(async () => expect((await sourceState(aggregator.pool, slow.url)).behind).toBe(0));
  const pause = async (paused: boolean): Promise<void> =>
    setPaused(aggregator.pool, (await findSource(aggregator.pool, slow.url))?.id ?? 0, paused);
  await pause(true);
  // What is missing, number 3, is named forty pages further on.
  for (let i = 2; i <= 41; i += 1) slow.document(`d-${i}`);
  slow.records = slow.records.filter(({ sequenceNumber }) => sequenceNumber !== 3);
  slow.remove('redact', 'd-3', { geredigeerdeSequenceNumbers: [3] });
  let pages = 0;
  slow.rule = ({ path, query, page, json }) => {
    if (path !== '/feed') return false;
    query.set('limit', '1');
    pages += 1;
    setTimeout(() => json(page()), 100);
    return true;
  };
  await pause(false);
  await eventually(() => expect(pages).toBeGreaterThan(2));
  quick.document('q-1');
  await follow(aggregator.pool, quick.url);
  await eventually(async () => expect((await sourceState(aggregator.pool, quick.url)).behind).toBe(0));
  expect(pages).toBeLessThan(40);
  expect((await sourceState(aggregator.pool, slow.url)).behind).toBeGreaterThan(30);
  // It goes on where it was, and no page is a fault.
  await eventually(async () => expect((await sourceState(aggregator.pool, slow.url)).behind).toBe(0));
  const records = await readRecords(aggregator.api, '/feed?organisatiecode=gm0001');
  expect(records.filter(({ op }) => op === 'upsert')).toHaveLength(40);
  const { rows } = await aggregator.pool.query("select detail from aggregator.issues where wat = 'numbers'");
  expect(rows).toEqual([]);
});
