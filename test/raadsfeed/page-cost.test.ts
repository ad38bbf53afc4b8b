/** However the database plans them, and whatever it knows of the tables: pages look at the blocks that hold their records, and hardly at others. */
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readConfig } from '../../src/kernel/config/read-config.ts';
import type { Db } from '../../src/kernel/database/db.ts';
import { typeParsers } from '../../src/kernel/database/type-parsers.ts';
import { createLogger } from '../../src/kernel/log.ts';
import { type OpenPlatform, openPlatform } from '../../src/kernel/platform.ts';
import { readCollection } from '../../src/raadsfeed/store/read-collection.ts';
import { readEvents } from '../../src/raadsfeed/store/read-events.ts';
import { readRange } from '../../src/raadsfeed/store/read-range.ts';
import { readFiltered } from '../../src/raadsfeed/store/read-records.ts';
import { readSnapshot } from '../../src/raadsfeed/store/read-snapshot.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { generateHistory } from './generate-history.ts';

const RECORDS = 10_000;
const AFTER = 4000;
const LIMIT = 200;
/** A record of a page lies in a block of its own at most, and three indexes lead to it. */
const MOST_BLOCKS = 4 * LIMIT;

const organisatiecode = 'gm9007';
const resourceType = 'Informatieobject';

const reads: readonly (readonly [string, (db: Db) => Promise<number>])[] = [
  [
    'all',
    async (db) =>
      (await readRange(db, { after: AFTER, upTo: AFTER + LIMIT, mountUrl: 'https://raad.example' }))?.records.length ??
      0,
  ],
  [
    'of an organisation',
    async (db) => (await readFiltered(db, AFTER, RECORDS, LIMIT, { organisatiecode })).found.length,
  ],
  ['of a kind', async (db) => (await readFiltered(db, AFTER, RECORDS, LIMIT, { resourceType })).found.length],
  [
    'of both',
    async (db) => (await readFiltered(db, AFTER, RECORDS, LIMIT, { organisatiecode, resourceType })).found.length,
  ],
  ['of a stream', async (db) => (await readEvents(db, AFTER, RECORDS, LIMIT)).found.length],
  ['of a snapshot', async (db) => (await readSnapshot(db, AFTER, RECORDS, LIMIT, {})).found.length],
  [
    'of a snapshot of an organisation',
    async (db) => (await readSnapshot(db, AFTER, RECORDS, LIMIT, { organisatiecode })).found.length,
  ],
  [
    'of a collection',
    async (db) => (await readCollection(db, { organisatiecode, resourceType }, '', LIMIT)).found.length,
  ],
];

/** Nobody but the test says what the database knows. */
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
  // The blocks that a transaction looked at are added up when it ends.
  await client.query('select pg_stat_force_next_flush()');
  const { rows } = await client.query(
    `select sum(heap_blks_hit + heap_blks_read + coalesce(idx_blks_hit, 0) + coalesce(idx_blks_read, 0))::int as blocks
       from pg_statio_user_tables where schemaname = 'raadsfeed'`,
  );
  return Number(rows[0].blocks);
}

// Each state of knowledge comes on top of the one before.
describe.each([
  ['nothing', 'select'],
  ['the index of records', 'vacuum analyze raadsfeed.record'],
  ['all', 'vacuum analyze'],
])('when the database knows of %s', (_what, learn) => {
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

describe('when the database believes that the history is long', () => {
  let open: OpenPlatform;
  beforeAll(async () => {
    await client.query(
      `update pg_class set reltuples = reltuples * 1000 where relnamespace = 'raadsfeed'::regnamespace and reltuples > 0`,
    );
    const env = { DATABASE_URL: database.url, DATABASE_MIGRATE: 'false', AREAS: 'raadsfeed' };
    open = await openPlatform({ config: readConfig(env, 'serve'), log: createLogger('silent'), purpose: 'service' });
  });
  afterAll(() => open?.close());

  // Planning takes longer than the page: its texts may lie in any of 32 parts.
  it.each(reads)('a page %s is planned once', async (_kind, read) => {
    const connection = await open.platform.readPool.connect();
    try {
      for (let i = 0; i < 8; i += 1) expect(await read(connection)).toBe(LIMIT);
      const { rows } = await connection.query(
        `select sum(custom_plans)::int as anew from pg_prepared_statements where name like 'raadsfeed%'`,
      );
      expect(rows).toEqual([{ anew: 0 }]);
    } finally {
      connection.release(true);
    }
  });
});
