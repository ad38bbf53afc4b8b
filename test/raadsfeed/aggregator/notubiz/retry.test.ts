/** The waits between calls. Nothing actually waits: the requested delays are checked. */
import { afterEach, expect, it, vi } from 'vitest';
import { NotubizClient } from '../../../../src/raadsfeed/aggregator/notubiz/api.ts';
import {
  RETRY_POLICY,
  SupplierError,
  withRetries,
} from '../../../../src/raadsfeed/aggregator/supplier/supplier-client.ts';

const waits = vi.hoisted((): number[] => []);
vi.mock('node:timers/promises', () => ({
  setTimeout: async (ms: number) => {
    waits.push(ms);
  },
}));

const never = new AbortController().signal;

afterEach(() => {
  waits.length = 0;
  vi.restoreAllMocks();
});

async function fail(retryAfter?: number): Promise<void> {
  const failure = new SupplierError('status', 'status 503', { status: 503, retryAfter });
  await expect(withRetries(() => Promise.reject(failure), RETRY_POLICY, never)).rejects.toBe(failure);
}

it('waits at most 1, 2 and 4 seconds between four calls, at random, so that clients do not return together', async () => {
  const random = vi.spyOn(Math, 'random');
  random.mockReturnValue(1);
  await fail();
  random.mockReturnValue(0.25);
  await fail();
  expect(waits).toEqual([1000, 2000, 4000, 625, 1250, 2500]);
});

it('never waits less than Retry-After requires, and gives up beyond five minutes', async () => {
  vi.spyOn(Math, 'random').mockReturnValue(0);
  await fail(30_000);
  expect(waits).toEqual([30_000, 30_000, 30_000]);
  await fail(300_001);
  expect(waits).toHaveLength(3);
});

it('calls the public API if no other address is configured', async () => {
  const client = new NotubizClient();
  expect(client.base).toBe('https://api.notubiz.nl');
  await client.close();
});
