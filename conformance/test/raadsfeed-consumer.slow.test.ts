import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { follow, startAggregator } from '../../test/raadsfeed/aggregator/support.ts';
import { programConsumer, publishingConsumer } from '../raadsfeed-consumer/consumer.ts';
import type { CaseResult } from '../run-suite.ts';
import { OF_AGGREGATORS, runConsumer } from './run-consumer.ts';

const CONSUMER_PY = join(import.meta.dirname, '../../examples/conformance/consumer.py');
const hasPython = spawnSync('python3', ['--version']).status === 0;
const PATIENT_MS = 30_000;
/** Mistakes of an aggregator; following a feed is tested with our own feed. */
const OF_SOURCES = /^K-(AGG|RED|TRUST)|^K-ERR-0[1-5]/;

const notPassed = (results: readonly CaseResult[]): readonly string[] =>
  results.filter(({ outcome }) => outcome !== 'passed').map(({ id, outcome, reason }) => `${id} ${outcome}: ${reason}`);

describe('the suite for a consumer of council information', () => {
  it.concurrent('finds no fault in our own aggregator', async () => {
    const aggregator = await startAggregator();
    try {
      const results = await runConsumer({
        url: aggregator.mount,
        patienceMs: PATIENT_MS,
        isWanted: (id) => OF_SOURCES.test(id),
        consumer: (client, signal) => publishingConsumer(aggregator.mount, client, PATIENT_MS, signal),
        opened: async (feeds) => {
          for (const feed of feeds) await follow(aggregator.pool, feed);
        },
      });
      expect(notPassed(results)).toEqual([]);
    } finally {
      await aggregator.stop();
    }
  });

  it.concurrent('finds no fault in the Python example', async ({ skip }) => {
    skip(!hasPython);
    const results = await runConsumer({
      patienceMs: PATIENT_MS,
      isWanted: (id) => !OF_AGGREGATORS.includes(id),
      consumer: (_, signal) =>
        programConsumer({ command: ['python3', CONSUMER_PY], env: process.env, timeoutMs: PATIENT_MS, signal }),
    });
    expect(notPassed(results)).toEqual([]);
  });
});
