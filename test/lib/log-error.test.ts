import pg from 'pg';
import { describe, expect, inject, it } from 'vitest';
import { createLogger } from '../../src/lib/log.ts';

async function errorOf(statement: string, values: unknown[] = []): Promise<unknown> {
  const client = new pg.Client({ connectionString: inject('databaseServer') });
  await client.connect();
  try {
    await client.query('create temporary table person (bsn text primary key)');
    await client.query(`insert into person values ('900198424')`);
    return await client.query(statement, values).catch((error: unknown) => error);
  } finally {
    await client.end();
  }
}

function logged(error: unknown): string {
  const lines: string[] = [];
  createLogger('info', { write: (text) => void lines.push(text) }).error({ err: error }, 'failed');
  return lines.join('');
}

describe('an error in the log', () => {
  it('does not repeat the row that broke a constraint, but names the constraint', async () => {
    const line = logged(await errorOf(`insert into person values ('900198424')`));
    expect(line).not.toContain('900198424');
    expect(line).toContain('23505');
    expect(line).toContain('person_pkey');
  });

  it('does not repeat an unreadable value', async () => {
    const line = logged(await errorOf('select $1::uuid', ['900198424']));
    expect(line).not.toContain('900198424');
    expect(line).toContain('22P02');
  });

  it('says what went wrong when it contains no value, with its location and cause', () => {
    const line = logged(new Error('outer', { cause: new TypeError('inner') }));
    expect(line).toContain('"message":"outer"');
    expect(line).toContain('"message":"inner"');
    expect(line).toContain('log-error.test.ts');
  });

  it('omits any other members of an error', () => {
    const error = Object.assign(new Error('lost'), {
      client: { secretKey: 1391327664 },
      detail: 'Key (bsn)=(900198424)',
    });
    const line = logged(error);
    expect(line).not.toContain('1391327664');
    expect(line).not.toContain('900198424');
  });
});
