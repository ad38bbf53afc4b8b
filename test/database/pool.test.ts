import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Pool, type PoolOptions, withAbort } from '../../src/database/pool.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { openPool } from './support.ts';

let database: TestDatabase;
let pool: Pool;

const open = (options: Partial<PoolOptions> = {}): Pool => openPool(database.url, options);

beforeAll(async () => {
  database = await createDatabase();
  pool = open();
});
afterAll(async () => {
  await pool?.end();
  await database?.drop();
});

describe('values', () => {
  it('reads int8 as a number, also in arrays', async () => {
    const { rows } = await pool.query('select 9007199254740991::int8 as a, array[[1, null]]::int8[] as b');
    expect(rows[0]).toEqual({ a: Number.MAX_SAFE_INTEGER, b: [[1, null]] });
  });

  it('refuses an int8 that a number cannot hold', async () => {
    await expect(pool.query('select 9007199254740992::int8')).rejects.toThrow('does not fit in a number');
    expect((await pool.query('select 1 as still')).rows).toEqual([{ still: 1 }]);
  });

  it('leaves dates, local timestamps and numerics as text', async () => {
    const { rows } = await pool.query(
      `select '2026-03-29'::date as d, array['2026-03-29', null]::date[] as ds, '2026-03-29 02:30'::timestamp as t,
         12345678901234567890.10::numeric as n`,
    );
    const dates = { d: '2026-03-29', ds: ['2026-03-29', null], t: '2026-03-29 02:30:00' };
    expect(rows[0]).toEqual({ ...dates, n: '12345678901234567890.10' });
  });
});

describe('sessions', () => {
  it('start with the configured role, name and limits', async () => {
    const other = open({ role: 'koppelvlak_dienst', statementTimeoutMs: 1234 });
    try {
      const { rows } = await other.query(
        `select current_user as role, current_setting('statement_timeout') as statement,
           current_setting('idle_in_transaction_session_timeout') as idle, current_setting('application_name') as name,
           current_setting('jit') as jit`,
      );
      expect(rows).toEqual([
        { role: 'koppelvlak_dienst', statement: '1234ms', idle: '10s', name: 'koppelvlak test', jit: 'off' },
      ]);
    } finally {
      await other.end();
    }
  });

  it('keep the options of the address itself', async () => {
    const other = open({ url: `${database.url}&options=-c%20work_mem%3D5MB`, role: 'koppelvlak_dienst' });
    try {
      const { rows } = await other.query(`select current_user as role, current_setting('work_mem') as memory`);
      expect(rows).toEqual([{ role: 'koppelvlak_dienst', memory: '5MB' }]);
    } finally {
      await other.end();
    }
  });
});

describe('clients that keep giving up', () => {
  it('leave hardly more statements running on the server than the pool has connections', async () => {
    const size = 4;
    const crowded = open({ size });
    const counts: number[] = [];
    const end = Date.now() + 1500;
    const isOver = (): boolean => Date.now() > end + 60_000 || (Date.now() > end && counts.some((count) => count > 0));
    const giveUp = async (): Promise<void> => {
      while (!isOver()) {
        const work = withAbort(crowded, AbortSignal.timeout(60), (client) => client.query('select pg_sleep(20)'));
        await expect(work).rejects.toThrow('timeout');
      }
    };
    const watch = async (): Promise<void> => {
      while (!isOver()) {
        const { rows } = await pool.query(
          `select count(*) as running from pg_stat_activity
            where datname = current_database() and query like 'select pg_sleep%'`,
        );
        counts.push(rows[0].running);
      }
    };
    await Promise.all([watch(), ...Array.from({ length: size }, giveUp)]);
    await crowded.end();
    expect(Math.max(...counts)).toBeGreaterThan(0);
    expect(Math.max(...counts)).toBeLessThan(4 * size);
  });
});
