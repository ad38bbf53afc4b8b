/** Thirty organisations on one Postgres, one of them broken: everything that `koppelvlak fleet` does, with the logins that it made. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { callProgram, type Ended } from '../support/program.ts';
import { startTokens } from '../support/tokens.ts';
import { actie, KEY, newPerson, startLog } from '../verwerkingenlog/support.ts';
import { type FleetServer, SECRET, startFleetServer } from './support.ts';

const ORGANISATIONS = Number(process.env.FLEET_ORGANISATIONS ?? 30);
/** These are made and migrated by the command; the others get a copy of the first, which is quicker. */
const NEW = 2;
const BROKEN = ORGANISATIONS;

let dir: string;
let server: FleetServer;
let names: string[];
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'kv-fleet-'));
  server = await startFleetServer();
  names = Array.from({ length: ORGANISATIONS }, (_, i) => server.name(i + 1));
  const organisations = names.map((name, i) => ({
    name,
    ...(i + 1 === BROKEN
      ? { settings: { ...server.addresses(name), DATABASE_URL: `postgres://a:${SECRET}@127.0.0.1:1/weg` } }
      : { settingsFile: `${name}.env` }),
  }));
  for (const name of names.slice(0, -1)) {
    const lines = Object.entries(server.addresses(name)).map(([variable, value]) => `${variable}=${value}\n`);
    await writeFile(join(dir, `${name}.env`), lines.join(''));
  }
  const settings = {
    AREAS: 'verwerkingenlog',
    VERWERKINGENLOG_KEY: KEY,
    VERWERKINGENLOG_MIN_RETENTION: 'P0D',
    VERWERKINGENLOG_RETENTION_GRACE: 'P0D',
    DATABASE_CONNECT_TIMEOUT_MS: '30000',
  };
  await writeFile(join(dir, 'fleet.json'), JSON.stringify({ settings, organisations }));
});
afterAll(async () => {
  await server?.close();
  await rm(dir, { recursive: true, force: true });
});

async function run(action: string, ...options: string[]): Promise<Ended> {
  const words = ['fleet', join(dir, 'fleet.json'), action, ...options];
  const ended = await callProgram(words, { DATABASE_ADMIN_URL: server.adminUrl });
  expect(ended.stdout + ended.stderr).not.toContain(SECRET);
  return ended;
}

/** Runs it for all; all but the broken one must succeed. @returns what was said of each, by its number */
async function fleet(action: string): Promise<Map<number, string>> {
  const ended = await run(action);
  expect(ended.status, ended.stdout).toBe(1);
  expect(ended.stderr, ended.stdout).toContain(`koppelvlak: 1 of ${ORGANISATIONS} organisations failed`);
  const said = new Map<number, string>();
  for (const line of ended.stdout.trim().split('\n')) {
    const [, name = '', outcome, text = ''] = /^(\S+) +(ok|failed) +(.+)$/.exec(line) ?? [];
    const number = names.indexOf(name) + 1;
    expect(outcome, line).toBe(number === BROKEN ? 'failed' : 'ok');
    said.set(number, text);
  }
  expect(said.size).toBe(ORGANISATIONS);
  return said;
}

it('makes, migrates, prunes, checks and looks at all but the one that is broken', async () => {
  const only = ['--only', ...names.slice(0, NEW)];
  for (const action of ['provision', 'migrate']) {
    const { status, stdout } = await run(action, ...only);
    expect(status, stdout).toBe(0);
    expect(stdout.match(action === 'provision' ? /made .*_dienst/g : /\d+ migrations applied/g)).toHaveLength(NEW);
  }
  for (const name of names.slice(NEW, -1)) await server.clone(names[0] ?? '', name);
  const provisioned = await fleet('provision');
  expect(provisioned.get(1)).toBe('nothing to make');
  expect(provisioned.get(NEW + 1)).toMatch(/^made .*_dienst/);
  const migrated = await fleet('migrate');
  expect(migrated.get(NEW + 1)).toBe('up to date');

  const [first = '', second = ''] = names;
  const log = await startLog({
    databaseUrl: server.addresses(first).DATABASE_URL ?? '',
    tokens: await startTokens(),
    env: { ORGANISATION: first, DATABASE_MIGRATE: 'false' },
  });
  try {
    const past = actie(newPerson(), { tijdstip: '2001-01-01T00:00:00Z', bewaartermijn: 'P1Y' });
    expect((await log.call(['create:normal'], 'POST', '/verwerkingsacties', past)).status).toBe(201);
    const metrics = await (await fetch(`${log.server.managementUrl}/metrics`)).text();
    const samples = metrics.split('\n').filter((line) => /^[a-z]/.test(line));
    expect(samples.filter((line) => !line.includes(`organisation="${first}"`))).toEqual([]);
  } finally {
    await log.stop();
    await log.tokens.close();
  }
  const verified = await fleet('verify');
  expect([verified.get(1), verified.get(2)]).toEqual([
    'checked 1 versions of the log: no faults',
    'checked 0 versions of the log: no faults',
  ]);
  const pruned = await fleet('prune');
  expect([pruned.get(1), pruned.get(2)]).toEqual(['1 actions removed', '0 actions removed']);
  expect((await fleet('status')).get(2)).toMatch(/^database of \d+ MB, up to date$/);

  // What one organisation's login can reach is that organisation's.
  const client = new pg.Client(server.url(second, `${first}_dienst`));
  await expect(client.connect()).rejects.toMatchObject({ code: '42501' });
});
