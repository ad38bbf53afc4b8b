import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Pool } from '../../src/database/pool.ts';
import { allowLongStatements, transaction } from '../../src/database/transaction.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { openPool } from './support.ts';

let database: TestDatabase;
let pool: Pool;
beforeAll(async () => {
  database = await createDatabase();
  // The driver would give up five seconds after the server.
  pool = openPool(database.url, { statementTimeoutMs: 1000 });
});
afterAll(async () => {
  await pool?.end();
  await database?.drop();
});

it.concurrent('lets a statement exceed the limits of the server and the driver', async () => {
  const { rows } = await transaction(pool, async (client) => {
    const db = await allowLongStatements(client, 0);
    return db.query(`select 'done' as a from pg_sleep(6.5)`);
  });
  expect(rows).toEqual([{ a: 'done' }]);
});

it.concurrent('applies a given limit, to this transaction only', async () => {
  const slow = transaction(pool, async (client) => {
    const db = await allowLongStatements(client, 4000);
    await db.query('select pg_sleep($1::float8)', [1.5]);
    return db.query('select pg_sleep(20)');
  });
  await expect(slow).rejects.toThrow(/statement timeout/);
  await expect(pool.query('select pg_sleep(20)')).rejects.toThrow(/statement timeout/);
});
