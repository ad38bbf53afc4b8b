import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { publishingConsumer } from '../../../src/extensions/conformance/raadsfeed-consumer/consumer.ts';
import type { FeedServer } from '../../raadsfeed/support.ts';
import { follow, startAggregator } from '../aggregator/support.ts';
import { runConsumer } from './run-consumer.ts';

let aggregator: FeedServer;
beforeAll(async () => {
  aggregator = await startAggregator();
});
afterAll(() => aggregator?.stop());

describe('the suite for a consumer of council information', () => {
  it('finds no fault in our own aggregator', async () => {
    const results = await runConsumer({
      url: aggregator.mount,
      patienceMs: 10_000,
      consumer: (client, signal) => publishingConsumer(aggregator.mount, client, 10_000, signal),
      opened: async (feeds) => {
        for (const feed of feeds) await follow(aggregator.pool, feed);
      },
    });
    console.log(
      results
        .filter(({ reason }) => reason)
        .map(({ id, outcome, reason }) => `${id} ${outcome}: ${reason}`)
        .join('\n'),
    );
    const others = results.filter(({ outcome }) => outcome !== 'passed');
    expect(others.map(({ id, outcome, reason }) => `${id} ${outcome}: ${reason}`)).toEqual([]);
  });
});
