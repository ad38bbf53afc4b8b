import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import type { Pool } from '../../src/database/pool.ts';
import { pipelinedTransaction } from '../../src/database/transaction.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { openPool, until } from './support.ts';

let database: TestDatabase;
let pool: Pool;

beforeAll(async () => {
  database = await createDatabase({ empty: true });
  pool = openPool(database.url, { size: 1, pipeline: true, statementTimeoutMs: 60_000 });
  await pool.query('create table t (a integer primary key)');
});
beforeEach(() => pool.query('truncate t'));
afterAll(async () => {
  await pool?.end();
  await database?.drop();
});

const never = new AbortController().signal;
const count = async () => (await pool.query('select count(*)::int as count from t')).rows[0].count;

it('commits the statements in the order sent', async () => {
  const counts = await pipelinedTransaction(
    pool,
    async (db) => ({
      result: Promise.all(
        [1, 2].map(async (a) => {
          const inserted = db.query('insert into t values ($1)', [a]);
          const { rows } = await db.query('select count(*)::int as count from t');
          await inserted;
          return rows[0].count;
        }),
      ),
    }),
    never,
  );
  expect(counts).toEqual([1, 2]);
  expect(await count()).toBe(2);
});

it('keeps nothing when a statement fails, and reuses the connection', async () => {
  const work = pipelinedTransaction(
    pool,
    async (db) => {
      const results = [1, 1, 2].map((a) => db.query('insert into t values ($1)', [a]));
      return { result: Promise.all(results) };
    },
    never,
  );
  await expect(work).rejects.toMatchObject({ code: '23505' });
  expect(await count()).toBe(0);
});

it("keeps nothing when the caller's own work fails, and rethrows its error", async () => {
  const work = pipelinedTransaction(
    pool,
    async (db) => {
      await db.query('insert into t values (1)');
      throw new Error('no');
    },
    never,
  );
  await expect(work).rejects.toThrow('no');
  expect(await count()).toBe(0);
});

it('does not report a commit after a caught failure caused a rollback', async () => {
  const work = pipelinedTransaction(
    pool,
    async (db) => {
      await db.query('insert into t values (1)');
      return { result: db.query('select 1/0').catch(() => 'caught') };
    },
    never,
  );
  await expect(work).rejects.toThrow('rolled back');
  expect(await count()).toBe(0);
});

it('is cancelled on the server when its result is no longer wanted, and returns a working connection', async () => {
  const gone = new AbortController();
  const started = performance.now();
  const work = pipelinedTransaction(
    pool,
    async (db) => {
      db.query('insert into t values (1)').catch(() => undefined);
      return { result: db.query('select pg_sleep(60)') };
    },
    gone.signal,
  );
  setTimeout(() => gone.abort(new Error('gone')), 200);
  await expect(work).rejects.toThrow('gone');
  expect(await count()).toBe(0);
  await until(async () => {
    const { rowCount } = await pool.query(
      `select from pg_stat_activity
       where datname = current_database() and query like 'select pg_sleep%' and state = 'active'`,
    );
    return rowCount === 0;
  });
  expect(performance.now() - started).toBeLessThan(30_000);
  await expect(pipelinedTransaction(pool, async () => ({ result: Promise.resolve() }), gone.signal)).rejects.toThrow(
    'gone',
  );
});
