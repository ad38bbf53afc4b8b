/** The clock moves over years: months come and go, terms pass. */
import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createPool } from '../../src/kernel/database/pool.ts';
import { createLogger } from '../../src/kernel/log.ts';
import { type Pruned, prune, type RetentionRules } from '../../src/verwerkingenlog/store/prune.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { koppelvlak } from './cli.ts';
import { actie, actieIn, HEADERS, type LogServer, listIn, newPerson, ofPerson, startLog } from './support.ts';

const ALL = [
  'create:confidential',
  'update:confidential',
  'delete:confidential',
  'read:confidential',
  'register:write',
];
const EIGHTY_YEARS = 80 * 366 * 86_400;

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
  const token = await log.tokens.bearer(ALL, { seconds: EIGHTY_YEARS });
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
      const token = await reading.tokens.bearer(ALL, { seconds: EIGHTY_YEARS });
      const answer = await reading.api.call('GET', `/verwerkte-objecten?${ofPerson(newPerson())}`, {
        headers: { ...token, ...HEADERS },
      });
      expect(answer.status).toBe(200);
    } finally {
      await reading.stop();
    }
  });
});

/** Terms as configured by default; the years in these tests are far apart. */
const RULES = { minRetention: 'P1Y', retentionGrace: 'P30D', maxRetention: undefined };

const pruneNow = (rules: Partial<RetentionRules> = {}, dryRun = false): Promise<Pruned> =>
  prune({
    pool: retention,
    clock: { now: () => now },
    rules: { ...RULES, ...rules },
    dryRun,
    signal: new AbortController().signal,
  });

const patch = ({ body }: { body: { verwerkingId: string } }, change: unknown) =>
  call('PATCH', `/verwerkingsacties?verwerkingId=${body.verwerkingId}`, change);
const put = (kept: { actieId: string; body: object }, wishes: object) =>
  call('PUT', `/verwerkingsacties/${kept.actieId}`, { ...kept.body, ...wishes });
const day = (text: string): void => {
  now = new Date(`${text}T12:00:00Z`);
};

/** Whether runs on both days leave it on the first and remove it on the second. */
async function staysUntil(actieId: string, before: string, after: string): Promise<void> {
  day(before);
  await pruneNow();
  expect(await versionsOf(actieId), `on ${before}`).toBeGreaterThan(0);
  day(after);
  await pruneNow();
  expect(await versionsOf(actieId), `on ${after}`).toBe(0);
}

async function lastLine(): Promise<Record<string, unknown>> {
  const { rows } = await client.query('select * from verwerkingenlog.opschoningen order by nummer desc limit 1');
  return rows[0];
}

describe('a term', () => {
  it('hides nothing: what is past it is found, read, changed and deleted as any other', async () => {
    day('2031-07-15');
    const kept = await keep({ tijdstip: '2001-01-01T00:00:00Z', bewaartermijn: 'P1D' });
    const [object] = Object(kept).verwerkteObjecten;
    expect((await call('GET', `/verwerkingsacties/${kept.actieId}`)).status).toBe(200);
    expect(listIn(await call('GET', `/verwerkingsacties?${ofPerson(kept.person)}`)).count).toBe(1);
    expect(listIn(await call('GET', `/verwerkte-objecten?${ofPerson(kept.person)}`)).count).toBe(1);
    expect((await call('GET', `/verwerkte-objecten/${object.verwerktObjectId}`)).status).toBe(200);
    expect((await patch(kept, { bewaartermijn: 'P2D' })).status).toBe(204);
    expect((await put(kept, { bewaartermijn: 'P3D' })).status).toBe(200);
    expect((await call('DELETE', `/verwerkingsacties/${kept.actieId}`)).status).toBe(204);
    expect((await call('GET', `/verwerkingsacties/${kept.actieId}`)).status).toBe(404);
    expect((await patch(kept, { bewaartermijn: 'P2D' })).status).toBe(400);
  });

  it.each(['PT0S', 'P0D', 'P0Y0M0DT0H0M0S', 'P0W', 'P1001Y', 'P1000Y1D', 'P12001M', 'P99999W'])(
    'of %s is refused, wherever it is given',
    async (bewaartermijn) => {
      day('2031-07-15');
      const kept = await keep({});
      const activity = {
        naam: 'x',
        verantwoordelijkeOrganisatie: HEADERS.OIN,
        doel: 'x',
        grondslag: 'Publieke taak',
        bewaartermijn,
      };
      const refused = [
        await call('POST', '/verwerkingsacties', actie(newPerson(), { bewaartermijn })),
        await patch(kept, { bewaartermijn }),
        await put(kept, { bewaartermijn }),
        await call('PUT', '/verwerkingsactiviteiten/5f0bef4c-f66f-4311-84a5-19e8bf359ea0', activity),
      ];
      for (const answer of refused) {
        expect(answer.json).toMatchObject({ status: 400, invalidParams: [{ name: 'bewaartermijn' }] });
      }
      expect(await versionsOf(kept.actieId)).toBe(1);
    },
  );

  it('of a thousand years is taken', async () => {
    const kept = await keep({ bewaartermijn: 'P12000M' });
    expect((await patch(kept, { bewaartermijn: 'P1000Y' })).status).toBe(204);
  });
});

describe('retention', () => {
  it('removes an action at its moment plus its term, counted in months as the calendar has them', async () => {
    now = new Date('2031-07-15T12:00:00Z');
    const kept = await keep({ tijdstip: '2028-02-29T10:00:00+01:00', bewaartermijn: 'P5Y1M' });
    now = new Date('2033-03-29T08:59:59.999Z');
    await pruneNow();
    expect(await pruneNow({}, true)).toMatchObject({ removed: 0 });
    now = new Date('2033-03-29T09:00:00Z');
    expect(await pruneNow({}, true)).toMatchObject({ removed: 1, byMonth: { 203107: 1 }, droppedMonths: [] });
    expect(await versionsOf(kept.actieId)).toBe(1);
    expect(await pruneNow()).toMatchObject({ removed: 1, byMonth: { 203107: 1 } });
    expect(await versionsOf(kept.actieId)).toBe(0);
  });

  it('keeps an action for the minimum after its registration, whatever its term', async () => {
    day('2040-01-01');
    const kept = await keep({ tijdstip: '2001-01-01T00:00:00Z', bewaartermijn: 'PT1S' });
    await staysUntil(kept.actieId, '2040-12-31', '2041-01-01');
  });

  it.each<[string, Record<string, unknown>, Record<string, unknown>]>([
    ['a shorter term', { bewaartermijn: 'P50Y' }, { bewaartermijn: 'P1D' }],
    ['a term where there was none', { bewaartermijn: null }, { bewaartermijn: 'P1D' }],
    [
      'an earlier moment',
      { tijdstip: '2042-01-01T00:00:00Z', bewaartermijn: 'P9Y' },
      { tijdstip: '2001-01-01T00:00:00Z' },
    ],
  ])('keeps for the grace what %s made removable', async (_title, before, after) => {
    day('2042-01-01');
    const kept = await keep(before);
    day('2044-03-01');
    expect((await put(kept, { ...before, ...after })).status).toBe(200);
    // Not even a change after it shortens the grace, nor one that goes back and forth.
    day('2044-03-10');
    expect((await put(kept, { ...before, ...after, actieNaam: 'Anders' })).status).toBe(200);
    await staysUntil(kept.actieId, '2044-03-30', '2044-03-31');
  });

  it('counts the grace from each change that brought removal forward, and lets a mistake be undone', async () => {
    day('2045-01-01');
    const kept = await keep({ tijdstip: '2045-01-01T00:00:00Z', bewaartermijn: 'P50Y' });
    const undone = await keep({ tijdstip: '2045-01-01T00:00:00Z', bewaartermijn: 'P50Y' });
    for (const [at, term] of [
      ['2046-06-01', 'P1D'],
      ['2046-06-20', 'P50Y'],
      ['2046-06-25', 'P1D'],
    ] as const) {
      day(at);
      for (const one of [kept, undone]) expect((await patch(one, { bewaartermijn: term })).status).toBe(204);
    }
    day('2046-07-01');
    expect((await patch(undone, { bewaartermijn: 'P3Y' })).status).toBe(204);
    await staysUntil(kept.actieId, '2046-07-24', '2046-07-26');
    expect(await versionsOf(undone.actieId)).toBe(5);
  });

  it('goes by the newest version, removes all of them, and what has no term stays, and is counted', async () => {
    day('2050-01-01');
    const tijdstip = '2050-01-01T00:00:00Z';
    const { withoutTerm: before } = await pruneNow();
    const prolonged = await keep({ tijdstip, bewaartermijn: 'P1Y' });
    const forEver = await keep({ tijdstip, bewaartermijn: null });
    const deleted = await keep({ tijdstip, bewaartermijn: 'P1Y' });
    await patch(prolonged, { bewaartermijn: 'P20Y' });
    await call('DELETE', `/verwerkingsacties/${deleted.actieId}`);
    day('2052-01-01');
    expect(await pruneNow()).toMatchObject({ withoutTerm: before + 1 });
    const left: number[] = [];
    for (const { actieId } of [prolonged, forEver, deleted]) left.push(await versionsOf(actieId));
    expect(left).toEqual([2, 1, 0]);
    const { rows } = await client.query(
      'select count(*)::int as count from verwerkingenlog.vindplaatsen where actie_id = $1',
      [deleted.actieId],
    );
    expect(rows[0].count).toBe(0);
    await pruneNow({ maxRetention: 'P3Y' });
    expect(await versionsOf(forEver.actieId)).toBe(1);
    day('2053-01-02');
    expect(await pruneNow({ maxRetention: 'P3Y' })).toMatchObject({ withoutTerm: 0 });
    expect(await versionsOf(forEver.actieId)).toBe(0);
  });
});

describe('the term of an activity', () => {
  const activity = (id: string, bewaartermijn: string | null) =>
    call('PUT', `/verwerkingsactiviteiten/${id}`, {
      naam: 'Activiteit',
      verantwoordelijkeOrganisatie: HEADERS.OIN,
      doel: 'Toets',
      grondslag: 'Publieke taak',
      bewaartermijn,
    });
  const under = (verwerkingsactiviteitId: string, bewaartermijn: string | null = null) =>
    keep({ tijdstip: now.toISOString(), bewaartermijn, verwerkingsactiviteitId });

  it('holds for actions without one of their own, when it is a duration', async () => {
    day('2055-01-01');
    const [term, words] = [randomUUID(), randomUUID()];
    await activity(term, 'P2Y');
    await activity(words, 'twee jaar');
    const [kept, own, open] = [await under(term), await under(term, 'P20Y'), await under(words)];
    await staysUntil(kept.actieId, '2056-12-31', '2057-01-01');
    expect(await versionsOf(own.actieId)).toBe(1);
    expect(await versionsOf(open.actieId)).toBe(1);
  });

  it('that is shortened in the register removes nothing until the grace has passed', async () => {
    day('2058-01-01');
    const [shorter, added, again, other] = [randomUUID(), randomUUID(), randomUUID(), randomUUID()];
    for (const id of [shorter, again]) await activity(id, 'P50Y');
    await activity(added, null);
    await activity(other, 'P1D');
    const kept = await Promise.all([shorter, added, again].map((id) => under(id)));
    const moved = await under(shorter);
    day('2060-01-01');
    for (const id of [shorter, added]) expect((await activity(id, 'P1D')).status).toBe(200);
    // Taken out of the register and put back with another term.
    expect((await call('DELETE', `/verwerkingsactiviteiten/${again}`)).status).toBe(204);
    expect((await activity(again, 'P1D')).status).toBe(201);
    // A term of its own that is no shorter than what the register now says does not end the grace of the register's change.
    expect(
      (await put(moved, { tijdstip: '2058-01-01T12:00:00Z', bewaartermijn: 'P1D', verwerkingsactiviteitId: other }))
        .status,
    ).toBe(200);
    day('2060-01-30');
    await pruneNow();
    for (const { actieId } of [...kept, moved]) expect(await versionsOf(actieId)).toBeGreaterThan(0);
    day('2060-01-31');
    await pruneNow();
    for (const { actieId } of [...kept, moved]) expect(await versionsOf(actieId)).toBe(0);
  });

  it('that an action is moved to, and that is shorter, counts as a change that brought removal forward', async () => {
    day('2061-01-01');
    const [long, short] = [randomUUID(), randomUUID()];
    await activity(long, 'P50Y');
    await activity(short, 'P1D');
    const kept = await under(long);
    day('2063-01-01');
    const moved = { tijdstip: '2061-01-01T12:00:00Z', bewaartermijn: null, verwerkingsactiviteitId: short };
    expect((await put(kept, moved)).status).toBe(200);
    await staysUntil(kept.actieId, '2063-01-30', '2063-01-31');
  });
});

describe('a run', () => {
  it('leaves a line: when, how many, which months, the oldest and the newest; a dry run leaves none', async () => {
    day('2070-01-10');
    await pruneNow();
    const first = await keep({ tijdstip: '2070-01-01T00:00:00Z', bewaartermijn: 'P1Y' });
    day('2070-02-10');
    await keep({ tijdstip: '2070-01-01T00:00:00Z', bewaartermijn: 'P1Y' });
    day('2072-01-01');
    const before = await lastLine();
    await pruneNow({}, true);
    expect(await lastLine()).toEqual(before);
    await pruneNow();
    expect(await lastLine()).toMatchObject({
      begonnen_op: now,
      geeindigd_op: now,
      verwijderd: '2',
      maanden: { 207001: 1, 207002: 1 },
      oudste: new Date('2070-01-10T12:00:00Z'),
      nieuwste: new Date('2070-02-10T12:00:00Z'),
      fout: null,
    });
    expect(await versionsOf(first.actieId)).toBe(0);
  });

  it('that breaks off has in its line what it removed, and why it ended', async () => {
    day('2073-01-01');
    await pruneNow();
    await keep({ tijdstip: '2073-01-01T00:00:00Z', bewaartermijn: 'P1Y' });
    day('2074-01-01');
    expect(await pruneNow({}, true)).toMatchObject({ byMonth: { 207301: 1 } });
    const stop = new AbortController();
    const run = prune({
      pool: retention,
      clock: { now: () => now },
      rules: RULES,
      dryRun: false,
      signal: stop.signal,
      progress: () => stop.abort(new Error('stopped half way')),
    });
    await expect(run).rejects.toThrow('stopped half way');
    expect(await lastLine()).toMatchObject({ verwijderd: '1', maanden: { 207301: 1 }, fout: 'stopped half way' });
  });

  it('cannot take its line back, nor say less than it said', async () => {
    for (const statement of [
      'delete from verwerkingenlog.opschoningen',
      'truncate verwerkingenlog.opschoningen',
      `update verwerkingenlog.opschoningen set verwijderd = 0`,
      `update verwerkingenlog.opschoningen set begonnen_op = now()`,
      'alter table verwerkingenlog.opschoningen disable trigger all',
      'delete from verwerkingenlog.activiteit_termijnen',
      `update verwerkingenlog.activiteit_termijnen set vanaf = now()`,
      `insert into verwerkingenlog.activiteit_termijnen (verwerkingsactiviteit_id, vanaf, door, verzoek_id) select gen_random_uuid(), now(), '', ''`,
    ]) {
      await expect(retention.query(statement), statement).rejects.toMatchObject({ code: '42501' });
    }
  });

  it('drops a month that is over and empty, and only such a one', async () => {
    day('2080-06-01');
    await client.query(`select verwerkingenlog.maak_maanden('2080-03-01Z', 5)`);
    const { droppedMonths } = await pruneNow();
    const after = await months();
    expect(droppedMonths).toEqual(expect.arrayContaining(['208003', '208004']));
    expect(Object(await lastLine()).verwijderde_maanden).toEqual(droppedMonths);
    expect(after).toEqual(expect.arrayContaining(['208005', '208006', '208007']));
    expect(after).not.toContain('208003');
  });

  it('is what `koppelvlak log prune` does, on the clock of the machine', async () => {
    now = new Date(Date.now() - 400 * 86_400_000);
    const past = await keep({ tijdstip: '2001-01-01T00:00:00Z', bewaartermijn: 'PT1H' });
    now = new Date();
    const recent = await keep({ tijdstip: '2001-01-01T00:00:00Z', bewaartermijn: 'PT1H' });
    const dry = await koppelvlak(database.url, ['log', 'prune', '--dry-run', '--json']);
    expect(dry).toMatchObject({ code: 0, json: { dryRun: true, removed: 1, droppedMonths: [] } });
    expect(await versionsOf(past.actieId)).toBe(1);
    const real = await koppelvlak(database.url, ['log', 'prune']);
    expect(real.code).toBe(0);
    expect(real.out).toMatch(/1 actions removed\./);
    expect(await versionsOf(past.actieId)).toBe(0);
    expect(await versionsOf(recent.actieId)).toBe(1);
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
