import { expect, it } from 'vitest';
import { DIWOO_INDEX } from '../../src/raadsfeed/diwoo/write-index.ts';
import { followFeed, MOST_REMOVED } from '../../src/raadsfeed/follow-index.ts';
import { PAGES_INDEX } from '../../src/raadsfeed/pages/search/follow-feed.ts';
import { pool, serviceDatabase } from './service-database.ts';

serviceDatabase();

const ROWS = 2 * MOST_REMOVED + 1;

async function count(table: string): Promise<number> {
  return (await pool.query<{ n: number }>(`select count(*)::integer as n from ${table}`)).rows[0]?.n ?? 0;
}

it.each([
  {
    table: 'pages.items',
    fill: `insert into pages.items select i, 'gm9901', 'Vergadering', 'v-' || i, now(), 'Oud', null, null, null, null, null, '{}', '', i, now() from generate_series(1, ${ROWS}) i`,
    index: PAGES_INDEX,
  },
  {
    table: 'diwoo.documents',
    fill: `insert into diwoo.documents (organisatiecode, bronidentificatie, number, modified, titel, exclusion) select 'gm9901', 'd-' || i, i, now(), 'Oud', 'no-file' from generate_series(1, ${ROWS}) i`,
    index: DIWOO_INDEX,
  },
])("removes another feed's rows from $table in steps, each of which is final", async ({ table, fill, index }) => {
  await pool.query(fill);
  await pool.query(`update ${`${table.split('.', 1)[0]}.position`} set feed_id = 'anders'`);
  const left: number[] = [];
  for (let i = 0; i < 3; i += 1) {
    expect(await followFeed(pool, index)).toBe('changed');
    left.push(await count(table));
  }
  expect(left).toEqual([ROWS - MOST_REMOVED, 1, 0]);
  expect(await followFeed(pool, index)).toBe('done');
});
