/** The clock moves over years: months come and go, terms pass. */
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createPool } from '../../src/kernel/database/pool.ts';
import { createLogger } from '../../src/kernel/log.ts';
import { type Pruned, prune } from '../../src/verwerkingenlog/store/prune.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { koppelvlak } from './cli.ts';
import { actie, actieIn, HEADERS, type LogServer, listIn, newPerson, ofPerson, startLog } from './support.ts';

const ALL = ['create:confidential', 'update:confidential', 'delete:confidential', 'read:confidential'];
const TWENTY_YEARS = 20 * 366 * 86_400;

let now = new Date('2026-01-31T23:59:59.999Z');
let database: TestDatabase;
let log: LogServer;
let client: pg.Client;
let retention: pg.Pool;

beforeAll(async () => {
  database = await createDatabase();
  log = await startLog({
    databaseUrl: database.url,
    clock: { now: () => now },
    env: { VERWERKINGENLOG_LOG_READS: 'false' },
  });
  client = new pg.Client(database.url);
  await client.connect();
  retention = createPool({
    url: database.url,
    size: 1,
    connectTimeoutMs: 5000,
    statementTimeoutMs: 0,
    pooler: 'none',
    role: 'koppelvlak_opschoner',
    applicationName: 'test',
    log: createLogger('silent'),
  });
});
afterAll(async () => {
  await retention?.end();
  await client?.end();
  await log?.stop();
  await database?.drop();
});

async function call(method: string, path: string, body?: unknown) {
  const token = await log.tokens.bearer(ALL, { seconds: TWENTY_YEARS });
  return log.api.call(method, path, { headers: { ...token, ...HEADERS }, body });
}

async function keep(wishes: Record<string, unknown>) {
  const body = actie(newPerson(), wishes);
  return {
    body,
    person: body.verwerkteObjecten[0]?.objectId ?? '',
    ...actieIn(await call('POST', '/verwerkingsacties', body)),
  };
}

const pruneNow = (dryRun = false): Promise<Pruned> =>
  prune({ pool: retention, now, dryRun, signal: new AbortController().signal });

async function versionsOf(actieId: string): Promise<number> {
  const { rows } = await client.query(
    'select count(*)::int as count from verwerkingenlog.versies where actie_id = $1',
    [actieId],
  );
  return rows[0].count;
}

async function months(): Promise<string[]> {
  const { rows } = await client.query(
    `select right(inhrelid::regclass::text, 6) as month from pg_inherits where inhparent = 'verwerkingenlog.versies'::regclass order by 1`,
  );
  return rows.map(({ month }) => month);
}

describe('months', () => {
  it('are made ahead, and each action lies in that of its registration', async () => {
    const last = await keep({});
    now = new Date('2026-02-01T00:00:00Z');
    const first = await keep({});
    const { rows } = await client.query(
      'select tableoid::regclass::text as month from verwerkingenlog.versies where actie_id = any($1) order by actie_id',
      [[last.actieId, first.actieId]],
    );
    expect(rows.map(({ month }) => month.slice(-6))).toEqual(['202601', '202602']);
    expect(await months()).toEqual(expect.arrayContaining(['202601', '202602', '202603', '202604']));
  });

  it('that nobody made ahead are made by the first action that needs them', async () => {
    now = new Date('2031-07-15T12:00:00Z');
    const kept = await Promise.all(Array.from({ length: 20 }, () => keep({})));
    expect(new Set(kept.map(({ actieId }) => actieId)).size).toBe(20);
    expect(await months()).toEqual(expect.arrayContaining(['203107', '203108', '203109', '203110']));
    const { results } = listIn(await call('GET', `/verwerkingsacties?${ofPerson(kept[0]?.person ?? '')}`));
    expect(results).toHaveLength(1);
  });

  it('that nobody made ahead are made by a reading that leaves an entry', async () => {
    const reading = await startLog({
      databaseUrl: database.url,
      clock: { now: () => new Date('2033-02-01T00:00:00Z') },
    });
    try {
      const token = await reading.tokens.bearer(ALL, { seconds: TWENTY_YEARS });
      const answer = await reading.api.call('GET', `/verwerkte-objecten?${ofPerson(newPerson())}`, {
        headers: { ...token, ...HEADERS },
      });
      expect(answer.status).toBe(200);
    } finally {
      await reading.stop();
    }
  });
});

describe('retention', () => {
  it('ends an action at its moment plus its term: until then it is there, from then on it is not', async () => {
    now = new Date('2031-07-15T12:00:00Z');
    const kept = await keep({ tijdstip: '2028-02-29T10:00:00+01:00', bewaartermijn: 'P5Y1M' });
    const read = () => call('GET', `/verwerkingsacties/${kept.actieId}`);
    now = new Date('2033-03-29T08:59:59.999Z');
    expect((await read()).status).toBe(200);
    expect(await pruneNow()).toMatchObject({ removed: 0 });
    now = new Date('2033-03-29T09:00:00Z');
    expect((await read()).status).toBe(404);
    expect(listIn(await call('GET', `/verwerkingsacties?${ofPerson(kept.person)}`)).count).toBe(0);
    expect((await call('DELETE', `/verwerkingsacties/${kept.actieId}`)).status).toBe(400);
    expect(await pruneNow(true)).toMatchObject({ removed: 1, byMonth: { 203107: 1 }, droppedMonths: [] });
    expect(await versionsOf(kept.actieId)).toBe(1);
    expect(await pruneNow()).toMatchObject({ removed: 1, byMonth: { 203107: 1 } });
    expect(await versionsOf(kept.actieId)).toBe(0);
  });

  it('goes by the newest version, removes all of them, and what has no term stays', async () => {
    now = new Date('2034-01-01T00:00:00Z');
    const tijdstip = '2034-01-01T00:00:00Z';
    const prolonged = await keep({ tijdstip, bewaartermijn: 'P1Y' });
    const shortened = await keep({ tijdstip, bewaartermijn: 'P50Y' });
    const forEver = await keep({ tijdstip, bewaartermijn: null });
    const deleted = await keep({ tijdstip, bewaartermijn: 'P1Y' });
    const patch = (of: { body: { verwerkingId: string } }, bewaartermijn: string) =>
      call('PATCH', `/verwerkingsacties?verwerkingId=${of.body.verwerkingId}`, { bewaartermijn });
    await patch(prolonged, 'P20Y');
    await patch(shortened, 'P1Y');
    await call('DELETE', `/verwerkingsacties/${deleted.actieId}`);
    now = new Date('2036-01-01T00:00:00Z');
    await pruneNow();
    const left: number[] = [];
    for (const { actieId } of [prolonged, shortened, forEver, deleted]) left.push(await versionsOf(actieId));
    expect(left).toEqual([2, 0, 1, 0]);
    const { rows } = await client.query(
      'select count(*)::int as count from verwerkingenlog.vindplaatsen where actie_id = any($1)',
      [[shortened.actieId, deleted.actieId]],
    );
    expect(rows[0].count).toBe(0);
  });

  it('drops a month that is over and empty, and only such a one', async () => {
    now = new Date('2036-06-01T00:00:00Z');
    await client.query(`select verwerkingenlog.maak_maanden('2036-03-01Z', 5)`);
    const { droppedMonths } = await pruneNow();
    const after = await months();
    expect(droppedMonths).toEqual(expect.arrayContaining(['203603', '203604']));
    expect(after).toEqual(expect.arrayContaining(['203401', '203605', '203606', '203607']));
    expect(after).not.toContain('203603');
  });

  it('is what `koppelvlak log prune` does, on the clock of the machine', async () => {
    now = new Date();
    const past = await keep({ tijdstip: '2001-01-01T00:00:00Z', bewaartermijn: 'PT1H' });
    const dry = await koppelvlak(database.url, ['log', 'prune', '--dry-run', '--json']);
    expect(dry).toMatchObject({ code: 0, json: { dryRun: true, droppedMonths: [] } });
    expect(await versionsOf(past.actieId)).toBe(1);
    const real = await koppelvlak(database.url, ['log', 'prune']);
    expect(real.code).toBe(0);
    expect(real.out).toMatch(/\d+ actions removed\./);
    expect(await versionsOf(past.actieId)).toBe(0);
    expect(await koppelvlak(database.url, ['log', 'verify', '--json'])).toMatchObject({
      code: 0,
      json: { faults: [] },
    });
  });

  it('cannot change what an action says', async () => {
    for (const statement of [
      `update verwerkingenlog.versies set actie_naam = 'x'`,
      `update verwerkingenlog.versies set vervalt_op = now()`,
      `insert into verwerkingenlog.versies default values`,
    ]) {
      await expect(retention.query(statement), statement).rejects.toMatchObject({ code: '42501' });
    }
  });
});
