import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { isDatabaseBusy } from '../../src/database/database-unavailable.ts';
import { type Pool, withAbort } from '../../src/database/pool.ts';
import { transaction, withTimeBudget } from '../../src/database/transaction.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { openPool, until } from './support.ts';

let database: TestDatabase;
let pool: Pool;

beforeAll(async () => {
  database = await createDatabase();
  pool = openPool(database.url, { size: 2 });
  await pool.query('create table t (n int primary key)');
});
beforeEach(async () => {
  await pool.query('delete from t');
});
afterAll(async () => {
  await pool?.end();
  await database?.drop();
});

async function rows(): Promise<number[]> {
  return (await pool.query<{ n: number }>('select n from t order by n')).rows.map(({ n }) => n);
}

async function running(text: string): Promise<number> {
  const { rows } = await pool.query<{ count: number }>(
    `select count(*) from pg_stat_activity where state = 'active' and query like $1::text and pid <> pg_backend_pid()`,
    [`%${text}%`],
  );
  return rows[0]?.count ?? 0;
}

describe('a transaction', () => {
  it('is committed when the function returns, with its result', async () => {
    const result = await transaction(pool, async (client) => {
      await client.query('insert into t values (1)');
      return 'done';
    });
    expect(result).toBe('done');
    expect(await rows()).toEqual([1]);
  });

  it('is rolled back when the function throws, and rethrows its error', async () => {
    const failing = transaction(pool, async (client) => {
      await client.query('insert into t values (1)');
      throw new TypeError('no');
    });
    await expect(failing).rejects.toThrow(new TypeError('no'));
    expect(await rows()).toEqual([]);
    expect(pool.idleCount).toBe(pool.totalCount);
  });

  it('limits statements that share a budget to that time in total', async () => {
    const slow = transaction(pool, async (client) => {
      const db = withTimeBudget(client, 300);
      await db.query('select pg_sleep(0.2)');
      await db.query('select pg_sleep(0.2)');
    });
    await expect(slow).rejects.toMatchObject({ code: '57014' });
    // The limit ends with the transaction.
    await pool.query('select pg_sleep(0.4)');
  });

  it('fails when one of its statements failed, even if the function caught that', async () => {
    const careless = transaction(pool, async (client) => {
      await client.query('insert into t values (1)');
      await client.query('insert into t values (1)').catch(() => undefined);
    });
    await expect(careless).rejects.toThrow('rolled back');
    expect(await rows()).toEqual([]);
  });

  it('drops a broken connection, keeps the first error, and the pool continues', async () => {
    const broken = transaction(pool, async (client) => {
      await client.query('insert into t values (1)');
      await client.query('select pg_terminate_backend(pg_backend_pid())');
    });
    await expect(broken).rejects.toMatchObject({ code: '57P01' });
    expect(await rows()).toEqual([]);
  });

  it('survives the server closing the connection between two statements', async () => {
    const broken = transaction(pool, async (client) => {
      const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
      const ended = new Promise((resolve) => client.once('end', resolve));
      await pool.query('select pg_terminate_backend($1::int)', [rows[0]?.pid]);
      await ended;
      await client.query('insert into t values (1)');
    });
    await expect(broken).rejects.toThrow('not queryable');
    expect(await rows()).toEqual([]);
  });

  it('has the requested isolation', async () => {
    const shown = await transaction(
      pool,
      async (client) =>
        (await client.query('show transaction_isolation')).rows.concat(
          (await client.query('show transaction_read_only')).rows,
        ),
      { isolation: 'repeatable read', readOnly: true },
    );
    expect(shown).toEqual([{ transaction_isolation: 'repeatable read' }, { transaction_read_only: 'on' }]);
  });

  it('does not outlive the statement timeout, and its connection is reused', async () => {
    const hasty = openPool(database.url, { size: 1, statementTimeoutMs: 500 });
    try {
      const slow = transaction(hasty, (client) => client.query('select pg_sleep(20)'));
      await expect(slow).rejects.toSatisfy(isDatabaseBusy);
      expect(hasty.totalCount).toBe(1);
      expect((await hasty.query('select 1 as one')).rows).toEqual([{ one: 1 }]);
    } finally {
      await hasty.end();
    }
  });
});

describe('a caller that has gone', () => {
  it('stops the running statement on the server', async () => {
    const caller = new AbortController();
    const restricted = openPool(database.url, { size: 1, role: 'koppelvlak_dienst' });
    try {
      const query = withAbort(restricted, caller.signal, (client) => client.query('select pg_sleep(20), 1'));
      await Promise.all([
        expect(query).rejects.toThrow('gone'),
        until(async () => (await running('pg_sleep(20), 1')) === 1).then(() => caller.abort(new Error('gone'))),
      ]);
      await until(async () => (await running('pg_sleep(20), 1')) === 0);
      expect((await restricted.query('select 1 as one')).rows).toEqual([{ one: 1 }]);
    } finally {
      await restricted.end();
    }
  });

  it('keeps the next statement from starting', async () => {
    const caller = new AbortController();
    const work = withAbort(pool, caller.signal, async (client) => {
      await client.query('select 1');
      caller.abort(new Error('gone'));
      await new Promise((resolve) => client.once('end', resolve));
      await client.query('insert into t values (1)');
    });
    await expect(work).rejects.toThrow('gone');
    expect(await rows()).toEqual([]);
  });

  it('gets no connection if it left before the start', async () => {
    const work = withAbort(pool, AbortSignal.abort(new Error('gone')), () => expect.fail('began'));
    await expect(work).rejects.toThrow('gone');
  });

  it('behaves normally if it stayed: result, error and connection', async () => {
    const { signal } = new AbortController();
    expect((await withAbort(pool, signal, (client) => client.query('select 1 as one'))).rows).toEqual([{ one: 1 }]);
    await expect(withAbort(pool, signal, (client) => client.query('selec'))).rejects.toMatchObject({ code: '42601' });
    expect(pool.idleCount).toBe(pool.totalCount);
  });
});
