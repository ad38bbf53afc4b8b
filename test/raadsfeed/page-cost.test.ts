/**
 * Whatever plan the database chooses, and whatever its statistics: pages read the blocks that hold their records, and hardly any others.
 */
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { typeParsers } from '../../src/database/pool.ts';
import type { Db } from '../../src/database/transaction.ts';
import { readAfter, readSnapshot } from '../../src/raadsfeed/store/records.ts';
import { readCurrent } from '../../src/raadsfeed/store/state.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { generateHistory } from './generate-history.ts';

const RECORDS = 10_000;
const AFTER = 4000;
const LIMIT = 200;
/** Each record of a page is in at most one block of its own, and three indexes lead to it. */
const MOST_BLOCKS = 4 * LIMIT;

const organisatiecode = 'gm9007';
const resourceType = 'Informatieobject';

const reads: readonly (readonly [string, (db: Db) => Promise<number>])[] = [
  ['of all', async (db) => (await readAfter(db, AFTER, LIMIT, {})).records.length],
  ['of an organisation', async (db) => (await readAfter(db, AFTER, LIMIT, { organisatiecode })).records.length],
  ['of a resource type', async (db) => (await readAfter(db, AFTER, LIMIT, { resourceType })).records.length],
  ['of both', async (db) => (await readAfter(db, AFTER, LIMIT, { organisatiecode, resourceType })).records.length],
  ['of a snapshot', async (db) => (await readSnapshot(db, AFTER, RECORDS, LIMIT, {})).records.length],
  [
    'of a snapshot of an organisation',
    async (db) => (await readSnapshot(db, AFTER, RECORDS, LIMIT, { organisatiecode })).records.length,
  ],
  [
    'of a collection',
    async (db) => (await readCurrent(db, { organisatiecode, resourceType }, { after: '', limit: LIMIT })).found.length,
  ],
];

/** Only the test updates the statistics. */
const KEEP_STATISTICS = `
  do $$ declare t regclass; begin
    for t in select oid from pg_class where relnamespace = 'raadsfeed'::regnamespace and relkind = 'r'
    loop execute format('alter table %s set (autovacuum_enabled = false)', t); end loop;
  end $$`;

let database: TestDatabase;
let client: pg.Client;
beforeAll(async () => {
  database = await createDatabase();
  client = new pg.Client({ connectionString: database.url, types: typeParsers });
  await client.connect();
  await client.query(KEEP_STATISTICS);
  await generateHistory(client, 1, RECORDS);
});
afterAll(async () => {
  await client?.end();
  await database?.drop();
});

async function blocks(): Promise<number> {
  // The blocks read by a transaction are added up when it ends.
  await client.query('select pg_stat_force_next_flush()');
  const { rows } = await client.query(
    `select sum(heap_blks_hit + heap_blks_read + coalesce(idx_blks_hit, 0) + coalesce(idx_blks_read, 0))::int as blocks
       from pg_statio_user_tables where schemaname = 'raadsfeed'`,
  );
  return Number(rows[0].blocks);
}

// Each state of the statistics builds on the previous one.
describe.each([
  ['nothing', 'select'],
  ['the index of records', 'vacuum analyze raadsfeed.records'],
  ['all', 'vacuum analyze'],
])('when the statistics cover %s', (_what, learn) => {
  beforeAll(() => client.query(learn));

  it.each(reads)('a page %s', async (_kind, read) => {
    for (const mode of ['force_custom_plan', 'force_generic_plan']) {
      await client.query(`set plan_cache_mode = ${mode}`);
      const before = await blocks();
      const found = await read(client);
      expect([mode, found]).toEqual([mode, LIMIT]);
      expect((await blocks()) - before, mode).toBeLessThan(MOST_BLOCKS);
    }
  });
});
