/** The promises of the log with many writers and readers, and writers that are killed. */
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  agendapunt,
  asPage,
  document,
  type FeedServer,
  publishLines,
  readRecords,
  servicePool,
  startFeed,
  vergadering,
} from './support.ts';

let feed: FeedServer;
beforeAll(async () => {
  feed = await startFeed({ DATABASE_POOL_SIZE: '20' });
});
afterAll(() => feed.stop());

/** Reads a feed from a position on, as a re-user does, until it has seen `until`; checks every promise along the way. */
async function read(mount: string, until: number, limit: number): Promise<number[]> {
  const seen: number[] = [];
  let cursor = '';
  let head = 0;
  while (seen.length < until) {
    const page = asPage(await (await fetch(`${mount}/feed?limit=${limit}${cursor && `&cursor=${cursor}`}`)).json());
    seen.push(...page.records.map(({ sequenceNumber }) => sequenceNumber));
    expect(page.head).toBeGreaterThanOrEqual(seen.at(-1) ?? 0);
    expect(page.head).toBeGreaterThanOrEqual(head);
    expect(page.hasMore).toBe((seen.at(-1) ?? 0) < page.head);
    head = page.head;
    cursor = page.cursor ?? '';
    if (!page.hasMore) await sleep(50);
  }
  return seen;
}

describe('twenty writers and twenty-four readers at once, on two instances', () => {
  it('gives every reader every number once and in order', async () => {
    const other = await feed.another();
    const total = 20 * 3 * 5;
    const readers = Array.from({ length: 24 }, (_, i) => read(i % 2 ? feed.mount : other.mount, total, 7 + 2 * i));
    const writers = Array.from({ length: 20 }, async (_, writer) => {
      for (let round = 0; round < 3; round += 1) {
        // Not `feed.publish`, which keeps polling both instances.
        const lines = Array.from({ length: 5 }, (_, i) => agendapunt(`w${writer}-r${round}-${i}`));
        await publishLines(feed.pool, lines);
      }
    });
    await Promise.all(writers);
    const numbers = Array.from({ length: total }, (_, i) => i + 1);
    for (const seen of await Promise.all(readers)) expect(seen).toEqual(numbers);
  });
});

describe('writers killed inside their transaction', () => {
  it('leave no gap, and do not block the others', async () => {
    const before = asPage((await feed.api.call('GET', '/feed?limit=1')).json).head;
    const killer = new pg.Client({ connectionString: feed.databaseUrl });
    await killer.connect();
    let stop = false;
    // Only a backend that holds the feed's lock is killed: between the number and its commit.
    const shooting = (async () => {
      let shot = 0;
      while (!stop) {
        const { rowCount } = await killer.query(
          `select pg_terminate_backend(pid) from pg_locks
            where relation = 'raadsfeed.texts'::regclass and mode = 'RowExclusiveLock'
              and database = (select oid from pg_database where datname = current_database()) limit 1`,
        );
        shot += rowCount ?? 0;
        await new Promise((resolve) => setTimeout(resolve, 3));
      }
      return shot;
    })();
    let committed = 0;
    const fails: unknown[] = [];
    const writers = Array.from({ length: 8 }, async (_, writer) => {
      const pool = servicePool(feed.databaseUrl, 1);
      for (let round = 0; round < 12; round += 1) {
        try {
          await publishLines(pool, [vergadering(`k${writer}-${round}`), document(`k${writer}-${round}`)]);
          committed += 2;
        } catch (error) {
          fails.push(error);
        }
      }
      await pool.end();
    });
    await Promise.all(writers);
    stop = true;
    expect(await shooting).toBeGreaterThan(0);
    expect(fails.length).toBeGreaterThan(0);
    await killer.end();
    const records = await readRecords(feed.api);
    expect(records.map(({ sequenceNumber }) => sequenceNumber)).toEqual(records.map((_, i) => i + 1));
    // A commit whose answer was lost may count as one more.
    expect(records.length - before).toBeGreaterThanOrEqual(committed);
    expect((records.length - before) % 2).toBe(0);
  });
});
