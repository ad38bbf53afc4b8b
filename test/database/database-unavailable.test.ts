import { readFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isDatabaseUnavailable } from '../../src/database/database-unavailable.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { openPool } from './support.ts';

let database: TestDatabase;
const login = `beperkt_${process.pid}`;

beforeAll(async () => {
  database = await createDatabase();
  await onDatabase(`create role ${login} login connection limit 1`);
});
afterAll(async () => {
  await onDatabase(`drop role ${login}`);
  await database?.drop();
});

async function onDatabase(text: string): Promise<void> {
  const pool = openPool(database.url);
  await pool.query(text).finally(() => pool.end());
}

async function failure(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    () => expect.fail('did not fail'),
    (error: unknown) => error,
  );
}

/** The error of a query on a separate pool. */
async function failureAt(url: string, text = 'select 1'): Promise<unknown> {
  const pool = openPool(url, { connectTimeoutMs: 3000, statementTimeoutMs: 1000 });
  return failure(pool.query(text)).finally(() => pool.end());
}

describe('the database is unavailable', () => {
  it('when nothing listens', async () => {
    expect(isDatabaseUnavailable(await failureAt('postgres://koppelvlak@127.0.0.1:1/x'))).toBe(true);
    expect(isDatabaseUnavailable(await failureAt('postgres://koppelvlak@localhost:1/x'))).toBe(true);
    expect(isDatabaseUnavailable(await failureAt('postgres:///x?host=/nonexistent&user=koppelvlak'))).toBe(true);
  });

  it('when the server accepts but never answers', async () => {
    const silent = createServer(() => undefined);
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
    const address = silent.address();
    const port = typeof address === 'object' ? address?.port : undefined;
    const error = await failureAt(`postgres://koppelvlak@127.0.0.1:${port}/x`);
    silent.close();
    expect(isDatabaseUnavailable(error)).toBe(true);
  });

  it('when Citus lost a worker during a transaction', () => {
    const error = new pg.DatabaseError('failure on connection marked as essential: 127.0.0.1:9702', 100, 'error');
    error.code = 'XX000';
    expect(isDatabaseUnavailable(error)).toBe(true);
    error.message = 'could not find the object';
    expect(isDatabaseUnavailable(error)).toBe(false);
  });

  it('when no pool connection becomes free', async () => {
    const pool = openPool(database.url, { size: 1, connectTimeoutMs: 1000 });
    const client = await pool.connect();
    const error = await failure(pool.query('select 1'));
    client.release();
    await pool.end();
    expect(isDatabaseUnavailable(error)).toBe(true);
  });

  it('when the server ends the connection', async () => {
    const error = await failureAt(database.url, 'select pg_terminate_backend(pg_backend_pid())');
    expect(error).toMatchObject({ code: '57P01' });
    expect(isDatabaseUnavailable(error)).toBe(true);
  });

  it('when the server has too many connections', async () => {
    const url = database.url.replace('user=koppelvlak', `user=${login}`);
    const pool = openPool(url);
    const client = await pool.connect();
    const error = await failureAt(url);
    client.release();
    await pool.end();
    expect(error).toMatchObject({ code: '53300' });
    expect(isDatabaseUnavailable(error)).toBe(true);
  });

  it('also when that is the cause of another error', () => {
    expect(
      isDatabaseUnavailable(new Error('reading failed', { cause: new Error('Connection terminated unexpectedly') })),
    ).toBe(true);
  });
});

describe('the database is not unavailable', () => {
  it('when the statement is wrong, breaks a rule or takes too long', async () => {
    for (const text of ['selec', 'select 1/0', 'select from nergens', 'select pg_sleep(20)']) {
      const error = await failureAt(database.url, text);
      expect(error).toBeInstanceOf(pg.DatabaseError);
      expect(isDatabaseUnavailable(error)).toBe(false);
    }
  });

  it('when something else fails', async () => {
    expect(isDatabaseUnavailable(await failure(readFile('/nonexistent')))).toBe(false);
    expect(isDatabaseUnavailable(new AggregateError([], 'several'))).toBe(false);
    expect(isDatabaseUnavailable(new TypeError('x is not a function'))).toBe(false);
    expect(isDatabaseUnavailable('Connection terminated')).toBe(false);
  });
});
