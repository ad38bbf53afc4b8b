import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { chmod, chown, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createListener } from '../../src/database/listen.ts';
import { type Pool, withAbort } from '../../src/database/pool.ts';
import { transaction } from '../../src/database/transaction.ts';
import { choosePostgresUser, POSTGRES_ENV, postgresBinaries } from '../../src/embedded-postgres/programs.ts';
import { answers } from '../../src/embedded-postgres/start.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { keepingLog, openPool, until } from './support.ts';

const PGBOUNCER = '/usr/sbin/pgbouncer';

/** pgbouncer is not an npm package, so these tests only run on a machine that has it. */
describe.runIf(existsSync(PGBOUNCER))('through pgbouncer in transaction mode', () => {
  let database: TestDatabase;
  let dir: string;
  let url: string;
  let pool: Pool;
  let stop: () => Promise<void>;

  beforeAll(async () => {
    database = await createDatabase();
    dir = await mkdtemp(join(tmpdir(), 'koppelvlak-pgbouncer-'));
    ({ url, stop } = await startPgbouncer(dir, new URL(database.url)));
    pool = openPool(url, { pooler: 'transaction', role: 'koppelvlak_dienst', size: 4 });
  });
  afterAll(async () => {
    await pool?.end();
    await stop?.();
    await database?.drop();
    if (dir !== undefined) await rm(dir, { recursive: true, force: true });
  });

  it('runs named statements on any server process', async () => {
    const named = { name: 'same-name', text: 'select $1::int as n', values: [1] };
    const results = await Promise.all(Array.from({ length: 40 }, () => pool.query(named)));
    expect(new Set(results.map(({ rows }) => JSON.stringify(rows)))).toEqual(new Set(['[{"n":1}]']));
    await transaction(pool, async (client) => expect((await client.query(named)).rows).toEqual([{ n: 1 }]));
  });

  it('stops the statement on the server when the caller has gone', async () => {
    const caller = new AbortController();
    const slow = withAbort(pool, caller.signal, (client) => client.query('select pg_sleep(20), 2'));
    const count = `select count(*) as n from pg_stat_activity where state = 'active' and query = 'select pg_sleep(20), 2'`;
    const running = async () => (await pool.query<{ n: number }>(count)).rows[0]?.n;
    const aborted = until(async () => (await running()) === 1).then(() => caller.abort(new Error('gone')));
    await Promise.all([expect(slow).rejects.toThrow('gone'), aborted]);
    await until(async () => (await running()) === 0);
  });

  it('detects that LISTEN would receive nothing, reports it and polls', async () => {
    const { log, lines } = keepingLog();
    const listener = createListener({ url, log, pollIntervalMs: 10 });
    let calls = 0;
    listener.subscribe('feed', () => {
      calls += 1;
    });
    await until(() => calls > 2 && lines.length > 0);
    expect(lines.join()).toContain('leads through a pooler');
    expect(listener.state()).not.toBe('live');
    await listener.close();
  });
});

async function startPgbouncer(dir: string, server: URL): Promise<{ url: string; stop: () => Promise<void> }> {
  const serverDir = server.searchParams.get('host') ?? '';
  const recipe = await readFile(join(import.meta.dirname, '../../deploy/pgbouncer/pgbouncer.ini'), 'utf8');
  // The address of the run's Postgres, without passwords and with few connections, so that statements share them.
  const config = recipe
    .replace(/^koppelvlak = .* dbname=koppelvlak/m, `* = host=${serverDir} port=5432 user=koppelvlak`)
    .replace(/^listen_addr = .*$/m, `listen_addr =\nunix_socket_dir = ${dir}`)
    .replace(/^auth_type = .*$/m, 'auth_type = any')
    .replace(/^auth_file = .*$/m, '')
    .replace(/^default_pool_size = .*$/m, 'default_pool_size = 3');
  await writeFile(join(dir, 'pgbouncer.ini'), config);
  // Like Postgres, it refuses root and must reach the socket of the run's Postgres, so it runs as the same user.
  const user = await choosePostgresUser(serverDir, postgresBinaries().postgres);
  await chmod(dir, 0o755);
  if (user.ids !== undefined) await chown(dir, user.ids.uid, user.ids.gid);
  const [command = PGBOUNCER, ...args] = [...user.prefix, PGBOUNCER, join(dir, 'pgbouncer.ini')];
  const child = spawn(command, args, { ...user.ids, cwd: dir, env: POSTGRES_ENV, stdio: 'ignore' });
  const ended = once(child, 'exit');
  const socket = join(dir, '.s.PGSQL.6432');
  await until(async () => {
    if (child.exitCode !== null) throw new Error(`pgbouncer ended with status ${child.exitCode}`);
    return (await stat(socket).catch(() => undefined)) !== undefined && (await answers(socket));
  });
  const url = `postgres://${server.pathname}?host=${dir}&port=6432&user=koppelvlak`;
  const stop = async (): Promise<void> => {
    child.kill('SIGTERM');
    await ended;
  };
  return { url, stop };
}
