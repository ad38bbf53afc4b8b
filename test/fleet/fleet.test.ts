/** `koppelvlak fleet`: the file of the organisations, and what makes a database. Thirty of them: fleet.slow.test.ts. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { scramVerifier } from '../../src/fleet/provision.ts';
import { callProgram, type Ended } from '../support/program.ts';
import { type FleetServer, SECRET, startFleetServer } from './support.ts';

let dir: string;
let server: FleetServer;
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'kv-fleet-'));
  server = await startFleetServer();
});
afterAll(async () => {
  await server?.close();
  await rm(dir, { recursive: true, force: true });
});

async function fleet(content: unknown, action: string, ...options: string[]): Promise<Ended> {
  const path = join(dir, 'fleet.json');
  await writeFile(path, typeof content === 'string' ? content : JSON.stringify(content));
  const env = { DATABASE_ADMIN_URL: server.adminUrl, DATABASE_URL: 'postgres://nobody@127.0.0.1:1/of-the-shell' };
  const ended = await callProgram(['fleet', path, action, ...options], env);
  expect(ended.stdout + ended.stderr).not.toContain(SECRET);
  return ended;
}

describe('the file', () => {
  const one = { name: 'gm0001', settings: { DATABASE_URL: `postgres://a:${SECRET}@db/gm0001` } };

  it.each([
    ['text', SECRET, 'the file of the fleet is not an object in JSON'],
    ['a list', [], 'the file of the fleet is not an object in JSON'],
    ['nobody', { organisations: [] }, '`organisations` must be a list of at least one'],
    ['a slip', { organisations: [one], setings: {} }, 'the fleet has an unknown member setings'],
    ['no name', { organisations: [{}] }, 'organisation 1 needs a `name`'],
    ['a path as a name', { organisations: [{ name: '../etc' }] }, 'organisation 1 needs a `name`'],
    ['a name twice', { organisations: [one, one] }, 'gm0001 is listed twice'],
    ['an odd member', { organisations: [{ ...one, env: {} }] }, 'gm0001 has an unknown member env'],
    ['a number', { organisations: [{ name: 'a', settings: { PORT: 80 } }] }, 'PORT in the settings of a must be text'],
    ['no file', { organisations: [{ name: 'a', settingsFile: 'no.env' }] }, 'the settings file of a cannot be read'],
    ['one database', { organisations: [one, { ...one, name: 'b' }] }, 'gm0001 and b have the same database'],
  ])('is refused: %s', async (_what, content, reason) => {
    const { status, stderr } = await fleet(content, 'status');
    expect(status).toBe(1);
    expect(stderr).toContain(reason);
  });

  it('is all that an organisation gets: the shell gives it no database', async () => {
    const { status, stdout } = await fleet({ organisations: [{ name: 'gm0001' }] }, 'status');
    expect(status).toBe(1);
    expect(stdout).toBe('gm0001  failed  gm0001 has no DATABASE_URL\n');
  });

  it('is refused for an unknown action or option', async () => {
    expect((await fleet({ organisations: [one] }, 'drop')).status).toBe(2);
    expect((await fleet({ organisations: [one] }, 'status', '--dry-run')).status).toBe(2);
    expect((await fleet({ organisations: [one] }, 'status', '--only', 'gm0002')).status).toBe(2);
    expect((await fleet({ organisations: [one] }, 'status', '--at-once', '0')).status).toBe(2);
  });
});

describe('provision', () => {
  const listed = (name: string, settings: Record<string, string>) => ({ organisations: [{ name, settings }] });

  it('makes what is missing with what is asked for, and again nothing', async () => {
    const name = server.name('nieuw');
    const file = listed(name, server.addresses(name));
    const first = await fleet(file, 'provision');
    expect(first.stdout, first.stderr).toBe(
      `${name}  ok      made ${['eigenaar', 'dienst', 'opschoner'].map((login) => `${name}_${login}`).join(', ')}, ${name}\n`,
    );
    expect((await fleet(file, 'provision')).stdout).toBe(`${name}  ok      nothing to make\n`);
    const { rows } = await server.query(
      `select rolname, rolsuper, rolcreaterole, rolcreatedb, rolpassword like 'SCRAM-SHA-256$%' as scram from pg_authid
        where rolname like '${name}\\_%' order by 1`,
    );
    const plain = { rolsuper: false, rolcreaterole: false, rolcreatedb: false, scram: true };
    expect(rows).toEqual(
      ['dienst', 'eigenaar', 'opschoner'].map((login) => ({ rolname: `${name}_${login}`, ...plain })),
    );
    const behind = await fleet(file, 'status');
    expect(behind.stdout).toMatch(/failed {2}to be migrated: \d+ migrations are missing/);
  });

  it('refuses what is somebody else’s', async () => {
    const name = server.name('ander');
    const { DATABASE_URL = '', ...rest } = server.addresses(name);
    const mighty = { ...rest, DATABASE_URL: server.url(name, server.name('beheerder')) };
    expect((await fleet(listed(name, mighty), 'provision')).stdout).toMatch(
      /exists and has rights that no organisation/,
    );
    await server.query(`create database ${name}`);
    expect((await fleet(listed(name, { ...rest, DATABASE_URL }), 'provision')).stdout).toMatch(/exists and belongs to/);
    const missing = await fleet(listed(name, { DATABASE_URL }), 'provision');
    expect(missing.stdout).toMatch(/DATABASE_PRUNE_URL are all needed/);
    const same = { ...rest, DATABASE_URL, DATABASE_PRUNE_URL: DATABASE_URL };
    expect((await fleet(listed(name, same), 'provision')).stdout).toMatch(/need logins of their own/);
  });

  it('makes of a password what the server itself would make', async () => {
    const role = server.name('scram');
    await server.query(`create role ${role} login password ${pg.escapeLiteral(SECRET)}`);
    const { rows } = await server.query(`select rolpassword from pg_authid where rolname = '${role}'`);
    const [, iterations, salt] = /^SCRAM-SHA-256\$(\d+):([^$]+)\$/.exec(rows[0].rolpassword) ?? [];
    expect(scramVerifier(SECRET, Buffer.from(String(salt), 'base64'), Number(iterations))).toBe(rows[0].rolpassword);
  });
});
