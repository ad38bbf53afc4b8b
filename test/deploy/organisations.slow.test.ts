/**
 * Two organisations on one server, set up and run as docs/scaling.md describes: `deploy/sql/organisation.sql` and
 * `deploy/organisations/each.sh`.
 */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { delimiter, dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type EmbeddedPostgres, startEmbedded } from '../../src/embedded-postgres/start.ts';
import { createLogger } from '../../src/lib/log.ts';
import { databaseHome } from '../support/database-home.ts';
import { withDatabase } from '../support/with-database.ts';
import { KEY } from '../verwerkingenlog/support.ts';

const ROOT = join(import.meta.dirname, '../..');
const MAIN = join(ROOT, 'src/main.ts');
const NAMES = ['gm0001', 'gm0002'];
const PASSWORD = 'Geheim-Wachtwoord-4711';
const hasPsql = spawnSync('psql', ['--version']).status === 0;

describe.runIf(hasPsql)('many organisations on one machine', () => {
  let dir: string;
  let server: EmbeddedPostgres;
  const address = (database: string, login: string): string =>
    withDatabase(server.url, database).replace('user=koppelvlak', `user=${login}`);

  beforeAll(async () => {
    dir = await databaseHome();
    server = await startEmbedded({
      dir,
      log: createLogger('silent'),
      settings: { fsync: 'off' },
    });
    await psql('--command=create role koppelvlak_dienst nologin; create role koppelvlak_opschoner nologin');
    for (const name of NAMES) {
      const passwords = ['owner', 'service', 'retention'].map((login) => `--set=${login}_password=${PASSWORD}`);
      await psql(`--set=name=${name}`, ...passwords, `--file=${join(ROOT, 'deploy/sql/organisation.sql')}`);
      await mkdir(join(dir, 'settings/secrets', name), { recursive: true });
      await writeFile(join(dir, 'settings', `${name}.env`), `ORGANISATION_NAME=${name}\nAREAS=verwerkingenlog\n`);
      const secrets = {
        DATABASE_URL: address(name, `${name}_dienst`),
        DATABASE_MIGRATION_URL: address(name, `${name}_eigenaar`),
        DATABASE_PRUNE_URL: address(name, `${name}_opschoner`),
        VERWERKINGENLOG_KEY: KEY,
      };
      for (const [variable, value] of Object.entries(secrets))
        await writeFile(join(dir, 'settings/secrets', name, variable), value);
    }
  });
  afterAll(async () => {
    await server?.stop();
    await rm(dir, { recursive: true, force: true });
  });

  async function psql(...args: string[]): Promise<void> {
    const child = spawn('psql', ['--set=ON_ERROR_STOP=1', '--quiet', ...args, withDatabase(server.url, 'postgres')]);
    const said = text(child.stderr);
    await once(child, 'close');
    expect(child.exitCode, await said).toBe(0);
  }

  /** Runs `each.sh` with a command of the program, from a shell with its own settings. */
  async function each(...words: string[]): Promise<{ status: number | null; stdout: string; stderr: string }> {
    const child = spawn(join(ROOT, 'deploy/organisations/each.sh'), ['node', MAIN, ...words], {
      env: {
        ...process.env,
        PATH: dirname(process.execPath) + delimiter + process.env.PATH,
        ORGANISATIONS_DIRECTORY: join(dir, 'settings'),
        DATABASE_URL: 'postgres://nobody@127.0.0.1:1/of_the_shell',
      },
    });
    const [stdout, stderr] = [text(child.stdout), text(child.stderr)];
    await once(child, 'close');
    return { status: child.exitCode, stdout: await stdout, stderr: await stderr };
  }

  it('migrates, checks and prunes each with its own logins', async () => {
    const migrated = await each('migrate');
    expect(migrated.status, migrated.stderr).toBe(0);
    expect(migrated.stdout.match(/^== \w+$/gm)).toEqual(NAMES.map((name) => `== ${name}`));
    const verified = await each('log', 'verify');
    expect(verified.status, verified.stderr).toBe(0);
    expect(verified.stdout.match(/0 versions/g)).toHaveLength(NAMES.length);
    expect((await each('log', 'prune')).status).toBe(0);
    const other = new pg.Client(address('gm0002', 'gm0001_dienst'));
    await expect(other.connect()).rejects.toMatchObject({ code: '42501' });
  });

  it('continues after one that fails, and reports it', async () => {
    await writeFile(join(dir, 'settings/secrets/gm0001/DATABASE_PRUNE_URL'), 'postgres://nobody@127.0.0.1:1/weg');
    const { status, stdout, stderr } = await each('log', 'verify');
    expect(status).toBe(1);
    expect(stderr).toContain('== gm0001: failed');
    expect(stdout.match(/0 versions/g)).toHaveLength(NAMES.length - 1);
  });
});
