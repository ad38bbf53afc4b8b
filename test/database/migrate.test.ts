import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { MigrationError, migrate, migrationState } from '../../src/database/migrate.ts';
import { checkLogin } from '../../src/database/open-database.ts';
import type { Pool } from '../../src/database/pool.ts';
import { type EmbeddedPostgres, startEmbedded } from '../../src/embedded-postgres/start.ts';
import { run } from '../embedded-postgres/support.ts';
import { createDatabase } from '../support/database.ts';
import { databaseHome } from '../support/database-home.ts';
import { withDatabase } from '../support/with-database.ts';
import { keepingLog, openPool, quiet } from './support.ts';

let dir: string;
const first = join(import.meta.dirname, '../../migrations/0001-roles.sql');

/** The program's first migration, and two that belong to this test. */
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'koppelvlak-migrations-'));
  await cp(first, join(dir, '0001-roles.sql'));
  await writeFile(join(dir, '0002-proef.sql'), 'create schema proef;\ncreate table proef.t (n int primary key);\n');
  await writeFile(
    join(dir, '0003-rechten.sql'),
    'grant usage on schema proef to koppelvlak_dienst;\ngrant select, insert on proef.t to koppelvlak_dienst;\n',
  );
  await writeFile(join(dir, 'README.md'), 'not a migration');
  await writeFile(join(dir, '0004-kladje.sql.bak'), 'not a migration either');
});
afterAll(() => rm(dir, { recursive: true, force: true }));

async function emptyDatabase(): Promise<string> {
  const database = await createDatabase({ empty: true });
  onTestFinished(database.drop);
  return database.url;
}

async function usingPool<T>(url: string, role: string | undefined, fn: (pool: Pool) => Promise<T>): Promise<T> {
  const pool = openPool(url, { role });
  return fn(pool).finally(() => pool.end());
}

function stateOf(url: string): Promise<{ pending: string[]; unknown: string[] }> {
  return usingPool(url, 'koppelvlak_dienst', (pool) => migrationState(pool, dir));
}

describe('migrating', () => {
  it('applies the numbered .sql files in order, once', async () => {
    const url = await emptyDatabase();
    expect(await stateOf(url)).toEqual({ pending: ['0001-roles', '0002-proef', '0003-rechten'], unknown: [] });
    expect(await migrate({ url, dir, log: quiet })).toEqual(['0001-roles', '0002-proef', '0003-rechten']);
    expect(await migrate({ url, dir, log: quiet })).toEqual([]);
    expect(await stateOf(url)).toEqual({ pending: [], unknown: [] });
  });

  it('reports connected instances of an older version', async () => {
    const url = await emptyDatabase();
    const { log, lines } = keepingLog();
    const warnings = () =>
      lines.map((line): Record<string, unknown> => JSON.parse(line)).filter(({ level }) => Number(level) >= 40);
    const older = openPool(url, { applicationName: 'koppelvlak service' });
    try {
      await older.query('select 1');
      await migrate({ url, dir, log });
      expect(warnings()).toMatchObject([{ connections: 1, msg: expect.stringContaining('older version') }]);
      await migrate({ url, dir, log });
      expect(warnings()).toHaveLength(1);
    } finally {
      await older.end();
    }
  });

  it('is safe with twenty at once: every migration runs once, and all callers see it done', async () => {
    const url = await emptyDatabase();
    const results = await Promise.all(Array.from({ length: 20 }, () => migrate({ url, dir, log: quiet })));
    expect(results.flat().sort()).toEqual(['0001-roles', '0002-proef', '0003-rechten']);
    expect(await stateOf(url)).toEqual({ pending: [], unknown: [] });
  });

  it('leaves nothing of a failed migration, and can be repeated', async () => {
    const url = await emptyDatabase();
    const broken = await mkdtemp(join(tmpdir(), 'koppelvlak-migrations-'));
    onTestFinished(() => rm(broken, { recursive: true }));
    await cp(dir, broken, { recursive: true });
    await writeFile(join(broken, '0002-proef.sql'), 'create schema proef;\ncreate table proef.t (n nergens);\n');
    await expect(migrate({ url, dir: broken, log: quiet })).rejects.toThrow('type "nergens" does not exist');
    expect((await stateOf(url)).pending).toEqual(['0002-proef', '0003-rechten']);
    expect(await migrate({ url, dir, log: quiet })).toEqual(['0002-proef', '0003-rechten']);
  });

  it('refuses a database newer than the program, and names the unknown migrations', async () => {
    const url = await emptyDatabase();
    await migrate({ url, dir, log: quiet });
    const older = await mkdtemp(join(tmpdir(), 'koppelvlak-migrations-'));
    onTestFinished(() => rm(older, { recursive: true }));
    await cp(first, join(older, '0001-roles.sql'));
    const refused = migrate({ url, dir: older, log: quiet });
    await expect(refused).rejects.toThrow(/newer than this program: it has 0002-proef, 0003-rechten/);
    await expect(refused).rejects.toBeInstanceOf(MigrationError);
  });

  it("applied all of the program's own migrations to the test databases", async () => {
    const database = await createDatabase();
    onTestFinished(database.drop);
    const migrations = join(import.meta.dirname, '../../migrations');
    const { pending } = await usingPool(database.url, 'koppelvlak_dienst', (pool) => migrationState(pool, migrations));
    expect(pending).toEqual([]);
  });
});

describe('logins', () => {
  let home: string;
  let server: EmbeddedPostgres;
  const as = (login: string, database: string): string =>
    withDatabase(server.url, database).replace('user=koppelvlak', `user=${login}`);

  /** A separate server: roles belong to the whole server, and must be missing here. */
  beforeAll(async () => {
    home = await databaseHome();
    server = await startEmbedded({ dir: home, log: quiet, settings: { fsync: 'off' } });
    await run(
      server.url,
      'create role eigenaar login',
      'create database van_eigenaar owner eigenaar',
      'create role bouwer login createrole',
    );
    await run(
      server.url,
      'create database een owner bouwer',
      'create database twee owner bouwer',
      'create role vreemde login',
    );
  });
  afterAll(async () => {
    await server?.stop();
    await rm(home, { recursive: true, force: true });
  });

  it('that may not create roles get a message with the statements for a DBA, which then work', async () => {
    const url = as('eigenaar', 'van_eigenaar');
    const refused = await migrate({ url, dir, log: quiet }).catch((error: unknown) => error);
    expect(refused).toMatchObject({ code: 'NOT_ALLOWED' });
    const sql = /As a DBA run: (.*)$/.exec(String(refused))?.[1] ?? '';
    expect(sql).toContain('create role koppelvlak_dienst nologin;');
    await run(server.url, sql);
    expect(await migrate({ url, dir, log: quiet })).toHaveLength(3);

    await usingPool(url, 'koppelvlak_dienst', async (pool) => {
      expect(await checkLogin(pool, url, 'koppelvlak_dienst')).toEqual({ bound: true });
      await pool.query('insert into proef.t values (1)');
      await expect(pool.query('delete from proef.t')).rejects.toMatchObject({ code: '42501' });
      await expect(pool.query('drop table proef.t')).rejects.toMatchObject({ code: '42501' });
    });
    await usingPool(url, undefined, async (pool) => {
      expect(await checkLogin(pool, url, 'koppelvlak_dienst')).toEqual({ bound: false });
    });
    await run(
      server.url,
      'drop database van_eigenaar with (force)',
      'drop role koppelvlak_dienst, koppelvlak_opschoner',
    );
  });

  it('that may create roles share them between databases that migrate at the same time', async () => {
    const urls = [as('bouwer', 'een'), as('bouwer', 'twee')];
    const applied = await Promise.all(urls.map((url) => migrate({ url, dir, log: quiet })));
    expect(applied.map(({ length }) => length)).toEqual([3, 3]);
    for (const url of urls) {
      await usingPool(url, 'koppelvlak_dienst', async (pool) => {
        expect(await checkLogin(pool, url, 'koppelvlak_dienst')).toEqual({ bound: true });
      });
    }
  });

  it('that are not members of a role get that message, from the migration and from the service', async () => {
    const url = as('vreemde', 'postgres');
    const advice = 'grant create on database "postgres" to "vreemde"';
    await expect(migrate({ url, dir, log: quiet })).rejects.toThrow(advice);
    await usingPool(url, 'koppelvlak_dienst', async (pool) => {
      const check = checkLogin(pool, url, 'koppelvlak_dienst');
      await expect(check).rejects.toThrow('as a DBA run: grant koppelvlak_dienst to "vreemde"');
    });
  });

  it('that own a database but not the roles migrate it, with a warning', async () => {
    await run(server.url, 'create database van_vreemde owner vreemde');
    const { log, lines } = keepingLog();
    expect(await migrate({ url: as('vreemde', 'van_vreemde'), dir, log })).toHaveLength(3);
    expect(lines.join()).toContain('grant koppelvlak_dienst to vreemde;');
  });
});
