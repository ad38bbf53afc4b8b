/** What an instance may say of the feed without asking each time, and when it may tell of a change. */
import { afterAll, afterEach, beforeAll, beforeEach, expect, it, vi } from 'vitest';
import { createListener, type Listener } from '../../src/kernel/database/listen.ts';
import type { Pool } from '../../src/kernel/database/pool.ts';
import { transaction } from '../../src/kernel/database/transaction.ts';
import { createFeedState, type FeedState } from '../../src/raadsfeed/feed-state.ts';
import { HOLDS_MS, SETTLES_MS } from '../../src/raadsfeed/settling.ts';
import { moveHead } from '../../src/raadsfeed/store/move-head.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { quiet, servicePool } from './support.ts';

/** Heard by none of these: a look of their own would be counted. */
const DEAF: Listener = {
  subscribe: () => () => undefined,
  isLive: () => true,
  state: () => 'live',
  close: async () => undefined,
};

let database: TestDatabase;
let pool: Pool;
let state: FeedState;
let now: number;
let looks: () => number;

beforeAll(async () => {
  database = await createDatabase();
  pool = servicePool(database.url);
});
afterAll(async () => {
  await pool.end();
  await database.drop();
});
beforeEach(() => {
  now = 0;
  const asked = vi.spyOn(pool, 'query');
  looks = () => asked.mock.calls.length;
  state = createFeedState({ db: pool, listener: DEAF, log: quiet, now: () => now });
});
afterEach(() => {
  state.close();
  vi.restoreAllMocks();
});

/** Commits a head as a writer does who tells nobody. */
const commitHead = (sequenceNumber: number): Promise<void> =>
  transaction(pool, (client) => moveHead(client, { sequenceNumber, merk: sequenceNumber }, new Date(), 0));

it('says nothing before it has looked', () => {
  expect(state.present()).toBeUndefined();
  expect(state.knownHead()).toBeUndefined();
});

it('answers everybody after one look for as long as that holds, and no longer', async () => {
  const row = await state.current();
  expect(looks()).toBe(1);
  for (let i = 0; i < 50; i += 1) {
    expect(state.present()).toBe(row);
    expect(await state.current()).toBe(row);
  }
  expect(looks()).toBe(1);
  now = HOLDS_MS;
  expect(state.present()).toBeUndefined();
  expect(await state.current()).toBe(row);
  expect(looks()).toBe(2);
});

it('looks again before that is over, once, so that nobody need wait', async () => {
  const row = await state.current();
  now = HOLDS_MS / 2;
  for (let i = 0; i < 50; i += 1) expect(state.present()).toBe(row);
  await expect.poll(looks).toBe(2);
  // Asked after the look above, so that has been heard of.
  await state.afresh();
  now = HOLDS_MS * 1.4;
  expect(state.present()).toBe(row);
});

it('counts from the beginning of a look, not from its end', async () => {
  // It is 0 when the look begins.
  const times = [0];
  const slow = createFeedState({ db: pool, listener: DEAF, log: quiet, now: () => times.shift() ?? HOLDS_MS });
  await slow.current();
  expect(slow.present()).toBeUndefined();
  slow.close();
});

it('does not look at all while nobody asks and nothing is heard', async () => {
  await state.current();
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(looks()).toBe(1);
});

it('always looks for who wants it afresh', async () => {
  await state.current();
  await state.afresh();
  await state.afresh();
  expect(looks()).toBe(3);
});

it('shows a change only when every look from before its commit is over', async () => {
  const before = await state.current();
  const shown: number[] = [];
  state.onChange(({ head }) => shown.push(head.sequenceNumber));
  await commitHead(11);
  const committed = performance.now();
  const seen = state.afresh();
  await expect.poll(looks).toBeGreaterThan(1);
  expect(state.present()).toBe(before);
  expect((await seen).head.sequenceNumber).toBe(11);
  expect(performance.now() - committed).toBeGreaterThanOrEqual(SETTLES_MS);
  expect(SETTLES_MS).toBeGreaterThan(HOLDS_MS);
  expect(shown).toEqual([11]);
  expect(state.present()).toBe(await seen);
});

it('shows one change after another, in their order', async () => {
  await state.current();
  const shown: number[] = [];
  state.onChange(({ head }) => shown.push(head.sequenceNumber));
  const asked: Promise<{ head: { sequenceNumber: number } }>[] = [];
  for (let head = 21; head < 41; head += 1) {
    await commitHead(head);
    asked.push(state.afresh());
    await expect.poll(looks).toBeGreaterThan(asked.length);
  }
  const heads = (await Promise.all(asked)).map(({ head }) => head.sequenceNumber);
  for (const [i, head] of heads.entries()) expect(head).toBeGreaterThanOrEqual(21 + i);
  expect(shown).toEqual([...new Set(heads)]);
});

it('hears of a commit of another process', async () => {
  const listener = createListener({ url: database.url, log: quiet });
  const hearing = createFeedState({ db: pool, listener, log: quiet });
  await hearing.current();
  const heard = new Promise<number>((resolve) => hearing.onChange(({ head }) => resolve(head.sequenceNumber)));
  await expect.poll(() => listener.isLive()).toBe(true);
  await commitHead(50);
  expect(await heard).toBe(50);
  hearing.close();
  await listener.close();
});

it('fails for who waits while the database cannot be asked, and goes on afterwards', async () => {
  await state.current();
  vi.mocked(pool.query).mockImplementationOnce(() => Promise.reject(new Error('the database is gone')));
  await expect(state.afresh()).rejects.toThrow('the database is gone');
  expect((await state.afresh()).head.sequenceNumber).toBe(50);
});

it('goes on when one who listens fails', async () => {
  await state.current();
  const shown: number[] = [];
  state.onChange(() => {
    throw new Error('fails');
  });
  state.onChange(({ head }) => shown.push(head.sequenceNumber));
  for (const head of [61, 62]) {
    await commitHead(head);
    await state.afresh();
  }
  expect(shown).toEqual([61, 62]);
});
