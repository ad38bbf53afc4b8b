import { describe } from 'vitest';
import { follow, startAggregator } from '../../test/raadsfeed/aggregator/support.ts';
import { publishingConsumer } from '../raadsfeed-consumer/consumer.ts';
import type { CaseResult } from '../run-suite.ts';
import { exampleConsumer } from './example-consumer.ts';
import { AGGREGATOR_MUTANTS, CONSUMER_MUTANTS } from './mutants/raadsfeed-consumer.ts';
import { type Mutation, startProxy } from './proxy.ts';
import { OF_AGGREGATORS, runConsumer } from './run-consumer.ts';
import { testMutants } from './run-mutants.ts';

/** All scenes run at the same time, on one CPU. */
const OWN_MS = 5000;

describe('the suite for a consumer', () => {
  testMutants({
    suite: 'raadsfeed-consumer',
    mutants: CONSUMER_MUTANTS,
    notOffered: OF_AGGREGATORS,
    lanes: 3,
    open: () => ({
      run: (mutation) => runConsumer({ patienceMs: OWN_MS, consumer: () => exampleConsumer(mutation) }),
      close: async () => undefined,
    }),
  });
});

/** Each with its own aggregator, because an organisation has one source. */
async function runAggregator(mutation: Mutation): Promise<readonly CaseResult[]> {
  const aggregator = await startAggregator();
  const proxy = await startProxy(aggregator.mount);
  proxy.mutate(mutation);
  try {
    return await runConsumer({
      url: proxy.url,
      patienceMs: 15_000,
      isWanted: (id) => OF_AGGREGATORS.includes(id),
      consumer: (client, signal) => publishingConsumer(proxy.url, client, 15_000, signal),
      opened: async (feeds) => {
        for (const feed of feeds) await follow(aggregator.pool, feed);
      },
    });
  } finally {
    await proxy.stop();
    await aggregator.stop();
  }
}

describe('the suite for an aggregator', () => {
  testMutants({
    suite: 'raadsfeed-consumer',
    mutants: AGGREGATOR_MUTANTS,
    notOffered: [],
    lanes: 3,
    open: () => ({ run: (mutation = {}) => runAggregator(mutation), close: async () => undefined }),
  });
});
