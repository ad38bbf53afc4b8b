/** The queue of entries without a place: what a statement added together, what came alone, and how it is emptied. */
import pg from 'pg';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import type { Pool } from '../../src/kernel/database/pool.ts';
import type { Db } from '../../src/kernel/database/transaction.ts';
import { readPending, readQueue, takeFromQueue, takeWithoutGap } from '../../src/proof/store/logs.ts';
import { servicePool } from '../raadsfeed/support.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';

const MANY = 20_000;
const GROUP = 25;
let database: TestDatabase;
/** The owner, who fills it. */
let client: pg.Client;
/** The service, which empties it. */
let pool: Pool;

beforeAll(async () => {
  database = await createDatabase();
  client = new pg.Client(database.url);
  await client.connect();
  pool = servicePool(database.url, 1);
});
afterAll(async () => {
  await pool.end();
  await client.end();
  await database.drop();
});
beforeEach(async () => {
  await client.query('delete from proof.queue; delete from proof.groepen');
});

/** An entry that its number can be read from. */
const ENTRY = `('\\x01'::bytea || sha256(int8send(n)))`;

async function addGroup(numbers: readonly number[], size = numbers.length): Promise<void> {
  await client.query(
    `insert into proof.groepen (log, eerste_nr, laatste_nr, nrs, vermeldingen)
     select 'verwerkingen', min(n), max(n), array_agg(n order by n), string_agg(${ENTRY}, '' order by n)
     from unnest($1::bigint[]) with ordinality as u(n, place) group by (place - 1) / $2::integer`,
    [numbers, size],
  );
}

async function addSingle(numbers: readonly number[]): Promise<void> {
  await client.query(
    `insert into proof.queue (log, nr, vermelding) select 'verwerkingen', n, ${ENTRY} from unnest($1::bigint[]) n`,
    [numbers],
  );
}

async function entryOf(number: number): Promise<Buffer | undefined> {
  const { rows } = await client.query<{ entry: Buffer }>(`select ${ENTRY} as entry from (values ($1::bigint)) v(n)`, [
    number,
  ]);
  return rows[0]?.entry;
}

it('gives all in order of number, each with its own entry, also when groups were numbered at the same time', async () => {
  await addGroup([1, 4, 5]);
  await addGroup([2, 3, 8]);
  await addSingle([6, 9]);
  expect(await readQueue(pool, 'verwerkingen')).toMatchObject({ pending: 8 });
  expect(await readQueue(pool, 'leveringen')).toEqual({ pending: 0, oldestSeconds: 0 });
  const waiting = await readPending(pool, 'verwerkingen', [3, 6, 7, 8]);
  expect([...waiting.keys()].sort()).toEqual([3, 6, 8]);
  const taken = await takeFromQueue(pool, 'verwerkingen', 100);
  expect(taken.map(({ number }) => number)).toEqual([1, 2, 3, 4, 5, 6, 8, 9]);
  for (const { number, entry } of taken) {
    expect(entry).toEqual(await entryOf(number));
    if (waiting.has(number)) expect(waiting.get(number)).toEqual(entry);
  }
  expect(await takeFromQueue(pool, 'verwerkingen', 100)).toEqual([]);
});

it('takes about as many as are asked for, those of a statement together', async () => {
  for (const first of [1, 11, 21]) await addGroup(Array.from({ length: 10 }, (_, i) => first + i));
  expect(await takeFromQueue(pool, 'verwerkingen', 15)).toHaveLength(20);
  expect(await takeFromQueue(pool, 'verwerkingen', 15)).toHaveLength(10);
  await addGroup([40, 41, 42]);
  expect(await takeFromQueue(pool, 'verwerkingen', 2)).toHaveLength(3);
});

it('is emptied without a loop in a loop, also when its statistics say that it is empty', async () => {
  const numbers = Array.from({ length: MANY }, (_, i) => i + 1);
  const fill = async (): Promise<void> => {
    await addSingle(numbers);
    await addGroup(
      numbers.map((number) => MANY + number),
      GROUP,
    );
  };
  await fill();
  await client.query('delete from proof.queue; delete from proof.groepen');
  // The pages stay, so that the planner believes what it counted in them: nothing.
  for (const table of ['queue', 'groepen']) await client.query(`vacuum (analyze, truncate false) proof.${table}`);
  await fill();
  const plans: string[] = [];
  const explaining: Db = {
    async query<R extends pg.QueryResultRow>(query: string | pg.QueryConfig<unknown[]>, values?: unknown[]) {
      const { text, values: given } = typeof query === 'string' ? { text: query, values } : query;
      const { rows } = await pool.query<{ 'QUERY PLAN': string }>(`explain ${text}`, given);
      plans.push(rows.map((row) => row['QUERY PLAN']).join('\n'));
      return await pool.query<R>(query, values);
    },
  };
  expect(await takeFromQueue(explaining, 'verwerkingen', 1000)).toHaveLength(2000);
  expect(await takeWithoutGap(explaining, 'verwerkingen', 1000, 1001)).toHaveLength(1000);
  expect(plans).toHaveLength(3);
  for (const plan of plans) {
    expect(plan).toMatch(/Delete on/);
    expect(plan).not.toMatch(/Nested Loop|Join/);
  }
});
