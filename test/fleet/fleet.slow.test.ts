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
/** These are made by `provision`; the others have a migrated database already, which is quicker. */
const NEW = 2;
const BROKEN = ORGANISATIONS;

let dir: string;
let server: FleetServer;
let names: string[];
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'kv-fleet-'));
  server = await startFleetServer();
  names = Array.from({ length: ORGANISATIONS }, (_, i) => server.name(i + 1));
  for (const name of names.slice(NEW, -1)) await server.clone(name);
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
  const settings = { AREAS: 'verwerkingenlog', VERWERKINGENLOG_KEY: KEY, DATABASE_CONNECT_TIMEOUT_MS: '30000' };
  await writeFile(join(dir, 'fleet.json'), JSON.stringify({ settings, organisations }));
});
afterAll(async () => {
  await server?.close();
  await rm(dir, { recursive: true, force: true });
});

/** Runs it; all but the broken one must succeed. @returns what was said of each, by its number */
async function fleet(action: string): Promise<Map<number, string>> {
  const ended: Ended = await callProgram(['fleet', join(dir, 'fleet.json'), action], {
    DATABASE_ADMIN_URL: server.adminUrl,
  });
  expect(ended.stdout + ended.stderr).not.toContain(SECRET);
  expect(ended.status).toBe(1);
  expect(ended.stderr).toContain(`koppelvlak: 1 of ${ORGANISATIONS} organisations failed`);
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
  expect((await fleet('provision')).get(1)).toMatch(/^made .*_dienst/);
  expect(new Set([...(await fleet('provision')).values()])).toContain('nothing to make');
  const migrated = await fleet('migrate');
  expect([1, NEW].map((n) => migrated.get(n))).toEqual(
    [1, NEW].map(() => expect.stringMatching(/^\d+ migrations applied$/)),
  );
  expect(migrated.get(NEW + 1)).toBe('up to date');
  expect(migrated.get(BROKEN)).toMatch(/DATABASE_URL|refused/);

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
