/** Two real servers of Postgres: a primary and its standby, or two that are alike. */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { type EmbeddedPostgres, startEmbedded } from '../../src/embedded-postgres/start.ts';
import { createLogger } from '../../src/lib/log.ts';
import { readAddresses } from '../../src/lib/postgres-address.ts';
import { run as runStatements } from '../embedded-postgres/support.ts';
import { createApi } from '../support/api.ts';
import { addDatabase } from '../support/database-home.ts';
import { startServer, type TestServer } from '../support/server.ts';
import { startTokens, type TestTokens } from '../support/tokens.ts';
import { actie, KEY, newPerson } from '../verwerkingenlog/support.ts';

const SETTINGS = { fsync: 'off', max_connections: '60' };

describe('an address with several hosts', () => {
  it.each([
    [
      'postgres://u:p@a:5432,b:5433/db?target_session_attrs=read-write&sslmode=disable',
      'read-write',
      ['postgres://u:p@a:5432/db?sslmode=disable', 'postgres://u:p@b:5433/db?sslmode=disable'],
    ],
    ['postgresql://[::1]:1,b/db', 'any', ['postgresql://[::1]:1/db', 'postgresql://b/db']],
    [
      'postgres:///db?host=/run/a,/run/b&user=u',
      'any',
      ['postgres:///db?host=%2Frun%2Fa&user=u', 'postgres:///db?host=%2Frun%2Fb&user=u'],
    ],
    ['postgres:///db?host=/run/a&user=u', 'any', ['postgres:///db?host=/run/a&user=u']],
    ['postgres://u@a/db?options=-c%20x%3D1', 'any', ['postgres://u@a/db?options=-c%20x%3D1']],
  ])('is read as libpq reads it: %s', (url, wanted, urls) => {
    expect(readAddresses(url)).toEqual({ wanted, urls });
  });

  it.each(['mysql://a/db', 'postgres://a:x,b/db', 'postgres://a/db?target_session_attrs=writable', 'h1,h2'])(
    'is refused when it is not one: %s',
    (url) => {
      expect(() => readAddresses(url)).toThrow(/^(is|has) /);
    },
  );
});

/** A directory of a Postgres under a common one, so that one can become the copy of the other. */
let root: string;
let tokens: TestTokens;
beforeAll(async () => {
  root = await mkdtemp(join(inject('databaseHomes'), 'kv-hosts-'));
  tokens = await startTokens();
});
afterAll(async () => {
  await tokens?.close();
  await rm(root, { recursive: true, force: true });
});

async function start(name: string, settings: Record<string, string>): Promise<EmbeddedPostgres> {
  const dir = join(root, name);
  if (!existsSync(dir)) await addDatabase(dir);
  return await startEmbedded({ dir, log: createLogger('silent'), settings });
}

/** As a standby is until it is promoted, and a former primary after that; connections that are open stay. */
async function setReadOnly({ url }: EmbeddedPostgres, isReadOnly: boolean): Promise<void> {
  const value = isReadOnly ? 'on' : 'off';
  await runStatements(url, `alter system set default_transaction_read_only = ${value}`, 'select pg_reload_conf()');
}

/** The address of two servers as one. */
function both(a: EmbeddedPostgres, b: EmbeddedPostgres, wanted: string): string {
  const hosts = [a, b].map(({ url }) => new URL(url).searchParams.get('host'));
  const url = new URL(a.url);
  url.searchParams.set('host', hosts.join(','));
  url.searchParams.set('target_session_attrs', wanted);
  return url.href;
}

/** The second becomes a copy of the first, as `pg_basebackup` would make it of a stopped server. */
async function copy(from: string, to: string): Promise<void> {
  await promisify(execFile)('cp', ['-a', join(root, from), join(root, to)]);
}

const serveOn = (databaseUrl: string, env: Record<string, string> = {}): Promise<TestServer> =>
  startServer({
    databaseUrl,
    env: {
      AREAS: 'verwerkingenlog,raadsfeed',
      VERWERKINGENLOG_KEY: KEY,
      'database.connectTimeoutMs': '2000',
      ...tokens.env,
      ...env,
    },
  });

async function append(server: TestServer): Promise<number> {
  const headers = await tokens.bearer(['create:normal']);
  const api = createApi(`${server.url}/verwerkingenlog/v1`, 'verwerkingenlog.yaml');
  return (await api.call('POST', '/verwerkingsacties', { headers, body: actie(newPerson()) })).status;
}

interface Line {
  readonly name: string;
  readonly ok: boolean;
  readonly detail?: string;
  readonly warning?: string;
}

async function readiness(server: TestServer): Promise<{ status: number; line: (name: string) => Line | undefined }> {
  const response = await fetch(`${server.managementUrl}/health/ready`);
  const { checks }: { checks: Line[] } = JSON.parse(await response.text());
  return { status: response.status, line: (name) => checks.find((check) => check.name === name) };
}

describe('a service with two servers of a database', () => {
  it('goes on by itself at the one that takes changes, and back again', async () => {
    let first = await start('first', SETTINGS);
    const before = await serveOn(first.url);
    await before.stop();
    await first.stop();
    await copy('first', 'second');
    first = await start('first', SETTINGS);
    const second = await start('second', SETTINGS);
    await setReadOnly(second, true);
    const server = await serveOn(both(first, second, 'read-write'));
    try {
      expect(await append(server)).toBe(201);
      await first.stop();
      // Nobody has taken over yet: refused, not lost in silence.
      expect(await append(server)).toBe(503);
      expect((await readiness(server)).line('database')).toMatchObject({
        ok: false,
        detail: expect.stringMatching(/^DATABASE_URL: the database cannot be reached: .*read-write/),
      });
      await setReadOnly(second, false);
      await expect.poll(() => append(server)).toBe(201);
      expect((await readiness(server)).status).toBe(200);
      await expect.poll(async () => (await readiness(server)).line('listen')).toEqual({ name: 'listen', ok: true });

      // The other way, with connections that stay: the server only refuses changes from now on.
      first = await start('first', SETTINGS);
      await setReadOnly(second, true);
      await expect.poll(() => append(server)).toBe(201);
      const [row] = await runStatements(first.url, 'select count(*)::int from verwerkingenlog.versies');
      expect(row).toEqual([2]);
    } finally {
      await server.stop();
      await first.stop();
      await second.stop();
    }
  });
});
