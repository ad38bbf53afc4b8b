import { afterAll, afterEach, beforeAll, beforeEach, expect } from 'vitest';
import { type FeedServer, readRecords, type TestRecord } from '../support.ts';
import { FakeSource } from './fake-source.ts';
import { eventually, follow, sourceState, startAggregator, unfollow } from './support.ts';

/** The aggregator of the running test file. */
export let aggregator: FeedServer;
/** The source of the running test, which the aggregator has read completely. */
export let source: FakeSource;
let sources = 0;

/** Gives a test file an aggregator, and each of its tests its own source that the aggregator follows. */
export function followedSource(fill: (source: FakeSource) => void): void {
  beforeAll(async () => {
    aggregator = await startAggregator({ 'aggregator.backoffMaxMs': '50' });
  });
  afterAll(() => aggregator.stop());
  beforeEach(async () => {
    sources += 1;
    source = await new FakeSource(`gm${String(sources).padStart(4, '0')}`).listen();
    fill(source);
    await follow(aggregator.pool, source.url);
    await eventually(async () => expect((await sourceState(aggregator.pool, source.url)).behind).toBe(0));
  });
  afterEach(async () => {
    await unfollow(aggregator.pool, source.url);
    await source.close();
  });
}

/** The records that the aggregator published from the source. */
export function published(): Promise<TestRecord[]> {
  return readRecords(aggregator.api, `/feed?organisatiecode=${source.organisatiecode}`);
}
