/** An instance's view of the feed's state: it only moves forward within one feed, and never comes from a read that began too early. */
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { Listener, NotificationCallback } from '../../src/database/listen.ts';
import type { Db } from '../../src/database/transaction.ts';
import { createFeedStateCache, type FeedStateCache } from '../../src/raadsfeed/feed/state-cache.ts';
import { parseFeedState } from '../../src/raadsfeed/store/records.ts';
import { quiet } from './support.ts';

const FEED = '0123456789abcdef';
const text = (head: number, { redactions = 0, after = 0, feedId = FEED, epoch = head } = {}): string =>
  `${feedId} ${head} ${epoch} ${after} 0 ${redactions}`;

let now: number;
let stored: string;
let reads: number;
let answer: () => Promise<string>;
let notify: NotificationCallback;
let stateCache: FeedStateCache;

beforeEach(() => {
  now = 0;
  reads = 0;
  stored = text(5);
  answer = async () => stored;
  const primary: Db = {
    async query() {
      reads += 1;
      const rows: never[] = JSON.parse(JSON.stringify([{ state: await answer() }]));
      return { rows, rowCount: 1, command: 'SELECT', oid: 0, fields: [] };
    },
  };
  const listener: Listener = {
    subscribe(_channel, callback) {
      notify = callback;
      return () => undefined;
    },
    state: () => 'live',
    close: async () => undefined,
  };
  stateCache = createFeedStateCache({ db: primary, listener, log: quiet, now: () => now });
});
afterEach(() => stateCache.close());

const number = async (): Promise<number> => (await stateCache.current()).head.sequenceNumber;

it('answers all requests from one read for a second, and then reads again', async () => {
  expect(stateCache.fresh()).toBeUndefined();
  const first = await stateCache.current();
  expect(stateCache.fresh()).toBe(first);
  now = 999;
  expect(await stateCache.current()).toBe(first);
  expect(reads).toBe(1);
  now = 1000;
  expect(stateCache.fresh()).toBeUndefined();
  expect(await stateCache.current()).toBe(first);
  expect(reads).toBe(2);
});

it("uses a notification's state at once, and does not count it as confirmation", async () => {
  await stateCache.current();
  notify(text(7, { redactions: 1 }));
  expect(stateCache.fresh()).toMatchObject({ head: { sequenceNumber: 7 }, redactions: 1 });
  expect(reads).toBe(1);
  now = 1000;
  expect(stateCache.fresh()).toBeUndefined();
});

it.each([undefined, '', 'onzin', '7 1', text(4)])(
  'reads for itself when a notification carries no news: %s',
  async (payload) => {
    await stateCache.current();
    stored = text(6);
    notify(payload);
    await expect.poll(() => stateCache.known()?.head.sequenceNumber).toBe(6);
  },
);

it('reads again for a client that has seen a later number, by a read that begins after its request', async () => {
  await stateCache.current();
  let release: (value: string) => void = () => undefined;
  answer = () => new Promise((resolve) => (release = resolve));
  const early = stateCache.refresh();
  await expect.poll(() => reads).toBe(2);
  // The read in flight began too early for that client.
  const asked = [stateCache.currentAtLeast(9), stateCache.currentAtLeast(9)];
  answer = async () => text(9);
  release(text(5));
  await early;
  for (const state of await Promise.all(asked)) expect(state.head.sequenceNumber).toBe(9);
  expect(reads).toBe(3);
  await stateCache.currentAtLeast(9);
  expect(reads).toBe(3);
});

it('never goes back to a state read before a notification', async () => {
  await stateCache.current();
  let release: (value: string) => void = () => undefined;
  answer = () => new Promise((resolve) => (release = resolve));
  const early = stateCache.refresh();
  await expect.poll(() => reads).toBe(2);
  now = 10;
  notify(text(8, { redactions: 1 }));
  release(text(5));
  await early;
  expect(stateCache.known()).toMatchObject({ head: { sequenceNumber: 8 }, redactions: 1 });
});

it.each([
  ['is lower', text(3)],
  ['has another epoch', text(5, { epoch: 99 })],
  ['is of another feed', text(50, { feedId: 'fedcba9876543210' })],
])('goes back when a later read says so, as after restoring a backup: the head %s', async (_what, restored) => {
  await stateCache.current();
  const seen: number[] = [];
  stateCache.onChange(({ head }) => seen.push(head.sequenceNumber));
  now = 20;
  stored = restored;
  await stateCache.refresh();
  expect(stateCache.known()).toEqual(parseFeedState(restored));
  expect(seen).toHaveLength(1);
});

it('fails for waiting requests while the database cannot be read, and recovers afterwards', async () => {
  answer = () => Promise.reject(new Error('the database is gone'));
  await expect(stateCache.current()).rejects.toThrow('the database is gone');
  answer = async () => stored;
  expect(await number()).toBe(5);
});

it('continues when a callback fails', async () => {
  await stateCache.current();
  const seen: number[] = [];
  stateCache.onChange(() => {
    throw new Error('fails');
  });
  stateCache.onChange(({ head }) => seen.push(head.sequenceNumber));
  notify(text(6));
  notify(text(7));
  expect(seen).toEqual([6, 7]);
});
