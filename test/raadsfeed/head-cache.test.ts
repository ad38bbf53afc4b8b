/** What an instance takes the head of the feed to be: forward within one feed, and never from a read that began too early. */
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { Listener, NotificationCallback } from '../../src/database/listen.ts';
import type { Db } from '../../src/database/transaction.ts';
import { createHeadCache, type HeadCache } from '../../src/raadsfeed/feed/head.ts';
import { parseFeedHead } from '../../src/raadsfeed/store/records.ts';
import { quiet } from './support.ts';

const FEED = '0123456789abcdef';
const text = (head: number, { redactions = 0, after = 0, feedId = FEED, epoch = head } = {}): string =>
  `${feedId} ${head} ${epoch} ${after} 0 ${redactions}`;

let now: number;
let stored: string;
let reads: number;
let answer: () => Promise<string>;
let notify: NotificationCallback;
let heads: HeadCache;

beforeEach(() => {
  now = 0;
  reads = 0;
  stored = text(5);
  answer = async () => stored;
  const primary: Db = {
    async query() {
      reads += 1;
      const rows: never[] = JSON.parse(JSON.stringify([{ head: await answer() }]));
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
  heads = createHeadCache({ db: primary, listener, log: quiet, now: () => now });
});
afterEach(() => heads.close());

const number = async (): Promise<number> => (await heads.head()).head.sequenceNumber;

it('answers everybody from one read for a second, and reads again after that', async () => {
  expect(heads.cachedHead()).toBeUndefined();
  const first = await heads.head();
  expect(heads.cachedHead()).toBe(first);
  now = 999;
  expect(await heads.head()).toBe(first);
  expect(reads).toBe(1);
  now = 1000;
  expect(heads.cachedHead()).toBeUndefined();
  expect(await heads.head()).toBe(first);
  expect(reads).toBe(2);
});

it('takes what a notification names at once, and counts it as no confirmation', async () => {
  await heads.head();
  notify(text(7, { redactions: 1 }));
  expect(heads.cachedHead()).toMatchObject({ head: { sequenceNumber: 7 }, redactions: 1 });
  expect(reads).toBe(1);
  now = 1000;
  expect(heads.cachedHead()).toBeUndefined();
});

it.each([undefined, '', 'onzin', '7 1', text(4)])(
  'reads for itself when a notification names nothing new: %s',
  async (payload) => {
    await heads.head();
    stored = text(6);
    notify(payload);
    await expect.poll(() => heads.knownHead()?.head.sequenceNumber).toBe(6);
  },
);

it('reads again for a client that has seen a later number, by a read that begins after its request', async () => {
  await heads.head();
  let release: (value: string) => void = () => undefined;
  answer = () => new Promise((resolve) => (release = resolve));
  const early = heads.refreshHead();
  await expect.poll(() => reads).toBe(2);
  // What is under way began too early for him.
  const asked = [heads.headAtLeast(9), heads.headAtLeast(9)];
  answer = async () => text(9);
  release(text(5));
  await early;
  for (const head of await Promise.all(asked)) expect(head.head.sequenceNumber).toBe(9);
  expect(reads).toBe(3);
  await heads.headAtLeast(9);
  expect(reads).toBe(3);
});

it('never goes back to what was read before something was heard', async () => {
  await heads.head();
  let release: (value: string) => void = () => undefined;
  answer = () => new Promise((resolve) => (release = resolve));
  const early = heads.refreshHead();
  await expect.poll(() => reads).toBe(2);
  now = 10;
  notify(text(8, { redactions: 1 }));
  release(text(5));
  await early;
  expect(heads.knownHead()).toMatchObject({ head: { sequenceNumber: 8 }, redactions: 1 });
});

it.each([
  ['is lower', text(3)],
  ['has another epoch', text(5, { epoch: 99 })],
  ['is of another feed', text(50, { feedId: 'fedcba9876543210' })],
])('goes back when a later read says so, as after a backup was put back: the head %s', async (_what, restored) => {
  await heads.head();
  const seen: number[] = [];
  heads.onChange(({ head }) => seen.push(head.sequenceNumber));
  now = 20;
  stored = restored;
  await heads.refreshHead();
  expect(heads.knownHead()).toEqual(parseFeedHead(restored));
  expect(seen).toHaveLength(1);
});

it('fails for waiting requests while the database cannot be read, and recovers afterwards', async () => {
  answer = () => Promise.reject(new Error('the database is gone'));
  await expect(heads.head()).rejects.toThrow('the database is gone');
  answer = async () => stored;
  expect(await number()).toBe(5);
});

it('continues when a callback fails', async () => {
  await heads.head();
  const seen: number[] = [];
  heads.onChange(() => {
    throw new Error('fails');
  });
  heads.onChange(({ head }) => seen.push(head.sequenceNumber));
  notify(text(6));
  notify(text(7));
  expect(seen).toEqual([6, 7]);
});
