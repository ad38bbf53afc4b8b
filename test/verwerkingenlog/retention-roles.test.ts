/** Each login belongs to one role: the service cannot remove, retention cannot serve, and every command and schedule runs. */
import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createDatabase, type TestDatabase, withLogin } from '../support/database.ts';
import { koppelvlak } from './cli.ts';
import { actie, actieIn, KEY, type LogServer, newPerson, startLog } from './support.ts';

const NEW_KEY = `tweede:${Buffer.alloc(32, 9).toString('base64')}`;
const suffix = randomBytes(6).toString('hex');
const logins = { service: `dienst_${suffix}`, retention: `opschoner_${suffix}` };

let database: TestDatabase;
let owner: pg.Client;
const urls = { service: '', retention: '' };

beforeAll(async () => {
  database = await createDatabase();
  owner = new pg.Client(database.url);
  await owner.connect();
  await owner.query(`create role ${logins.service} login; grant koppelvlak_dienst to ${logins.service}`);
  await owner.query(`create role ${logins.retention} login; grant koppelvlak_opschoner to ${logins.retention}`);
  urls.service = withLogin(database.url, logins.service);
  urls.retention = withLogin(database.url, logins.retention);
});
afterAll(async () => {
  await owner?.query(`drop role ${logins.service}, ${logins.retention}`);
  await owner?.end();
  await database?.drop();
});

/** A server with the service's login; its logged actions have long expired. */
async function serving<T>(env: Record<string, string>, use: (log: LogServer) => Promise<T>): Promise<T> {
  const log = await startLog({ databaseUrl: urls.service, env });
  try {
    return await use(log);
  } finally {
    await log.stop();
  }
}

async function keepPast(): Promise<string> {
  const longAgo = new Date(Date.now() - 500 * 86_400_000);
  const log = await startLog({ databaseUrl: urls.service, clock: { now: () => longAgo } });
  try {
    const body = actie(newPerson(), { tijdstip: '2001-01-01T00:00:00Z', bewaartermijn: 'P1D' });
    const token = await log.tokens.bearer(['create:normal']);
    return actieIn(await log.api.call('POST', '/verwerkingsacties', { headers: token, body })).actieId;
  } finally {
    await log.stop();
  }
}

async function isThere(actieId: string): Promise<boolean> {
  const { rows } = await owner.query('select from verwerkingenlog.versies where actie_id = $1', [actieId]);
  return rows.length > 0;
}

async function ready(log: LogServer): Promise<{ status: number; retention: Record<string, unknown> }> {
  const response = await fetch(`${log.server.managementUrl}/health/ready`);
  const { checks } = Object(await response.json());
  return { status: response.status, retention: checks.find(({ name }: { name: string }) => name === 'retention') };
}

async function metric(log: LogServer, name: string): Promise<number> {
  const text = await (await fetch(`${log.server.managementUrl}/metrics`)).text();
  return Number(new RegExp(`^${name} (\\S+)`, 'm').exec(text)?.[1]);
}

describe.each([
  [
    "in DATABASE_PRUNE_URL, separate from the service's",
    () => [urls.service, { DATABASE_PRUNE_URL: urls.retention }] as const,
  ],
  ['alone', () => [urls.retention, {}] as const],
])('with the login of the retention role %s', (_title, where) => {
  const run = (args: string[], more: Record<string, string> = {}) => {
    const [url, env] = where();
    return koppelvlak(url, args, { ...env, ...more });
  };

  it('`log prune`, `log verify` and `log rotate-key` work', async () => {
    const past = await keepPast();
    const stays = await serving({}, async (log) =>
      actieIn(await log.call(['create:normal'], 'POST', '/verwerkingsacties', actie(newPerson()))),
    );
    expect(await run(['log', 'prune', '--dry-run', '--json'])).toMatchObject({ code: 0, json: { removed: 1 } });
    expect(await run(['log', 'prune', '--json'])).toMatchObject({ code: 0, json: { removed: 1 } });
    expect([await isThere(past), await isThere(stays.actieId)]).toEqual([false, true]);
    const keys = { VERWERKINGENLOG_KEY: `${NEW_KEY},${KEY}` };
    expect(await run(['log', 'rotate-key', '--json'], keys)).toMatchObject({ code: 0, json: { key: 'tweede' } });
    expect(await run(['log', 'verify', '--json'], keys)).toMatchObject({ code: 0, json: { faults: [] } });
    const back = { VERWERKINGENLOG_KEY: `${KEY},${NEW_KEY}` };
    expect(await run(['log', 'rotate-key', '--json'], back)).toMatchObject({ code: 0, json: { key: 'eerste' } });
  });
});

it('a login that may not act as the role is refused with the missing grant, and removes nothing', async () => {
  const past = await keepPast();
  for (const command of ['prune', 'verify', 'rotate-key']) {
    const refused = await koppelvlak(urls.service, ['log', command]);
    expect(refused.code).toBe(1);
    expect(refused.error).toContain(
      `grant koppelvlak_opschoner to "${logins.service}"; Or name a login that may in DATABASE_PRUNE_URL`,
    );
  }
  expect(await isThere(past)).toBe(true);
});

it('runs show in metrics, and the last failed one in readiness', async () => {
  await owner.query('truncate verwerkingenlog.prune_runs, verwerkingenlog.versies, verwerkingenlog.locations');
  await keepPast();
  expect((await koppelvlak(urls.retention, ['log', 'prune'])).code).toBe(0);
  await serving({}, async (log) => {
    expect(await metric(log, 'koppelvlak_verwerkingenlog_prune_last_success_timestamp_seconds')).toBeGreaterThan(1e9);
    expect(await metric(log, 'koppelvlak_verwerkingenlog_prune_last_removed')).toBe(1);
    expect(await metric(log, 'koppelvlak_verwerkingenlog_kept_without_term')).toBe(0);
    expect(await ready(log)).toEqual({ status: 200, retention: { name: 'retention', ok: true } });
    await owner.query(
      `insert into verwerkingenlog.prune_runs (started_at, ended_at, login, fault) values (now(), now(), 'x', 'disk full')`,
    );
    expect((await ready(log)).retention).toMatchObject({ ok: true, warning: 'the last run failed: disk full' });
    await owner.query(`truncate verwerkingenlog.prune_runs`);
    await owner.query(
      `insert into verwerkingenlog.prune_runs (started_at, ended_at, login) values ('2026-01-02Z', now(), 'x')`,
    );
    expect((await ready(log)).retention).toMatchObject({
      ok: true,
      warning: 'no run has succeeded since 2026-01-02T00:00:00.000Z',
    });
  });
});

it('metrics are available while the database does not answer their queries', async () => {
  await serving({}, async (log) => {
    const before = await metric(log, 'koppelvlak_verwerkingenlog_prune_last_success_timestamp_seconds');
    await owner.query('begin; lock table verwerkingenlog.prune_runs');
    const asked = performance.now();
    expect(await metric(log, 'koppelvlak_verwerkingenlog_prune_last_success_timestamp_seconds')).toBe(before);
    // A waiting statement times out after fifteen seconds.
    expect(performance.now() - asked).toBeLessThan(10_000);
    await owner.query('rollback');
  });
});
