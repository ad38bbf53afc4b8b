/** `koppelvlak log export`, for the auditor. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { callProgram } from '../support/program.ts';
import { koppelvlak } from './cli.ts';
import { ACTIVITY, type LdvServer, line, newId, startLdv } from './ldv/support.ts';
import { actie, actieIn, HEADERS, KEY, newPerson } from './support.ts';

const ALL = ['create:confidential', 'read:confidential', 'update:confidential', 'delete:confidential'];
const OWN = '0f5d1a40-6c0e-4f1c-9a52-6a4f7f1f2a10';
let database: TestDatabase;
let log: LdvServer;

beforeAll(async () => {
  database = await createDatabase();
  log = await startLdv({ databaseUrl: database.url });
});
afterAll(async () => {
  await log?.stop();
  await database?.drop();
});

async function exported(from: string, to: string, ...more: string[]): Promise<Record<string, unknown>[]> {
  const { status, stdout, stderr } = await callProgram(['log', 'export', '--from', from, '--to', to, ...more], {
    DATABASE_URL: database.url,
    VERWERKINGENLOG_KEY: KEY,
    PUBLIC_BASE_URL: log.server.url,
    VERWERKINGENLOG_OWN_ACTIVITIES: `log=${OWN}`,
    USER: 'auditor',
  });
  expect([status, stderr]).toEqual([0, '']);
  const lines: unknown[] = stdout
    .split('\n')
    .slice(0, -1)
    .map((text) => JSON.parse(text));
  return lines.map((one) => Object(one));
}

const post = async (wishes: Record<string, unknown>, person = newPerson()) =>
  actieIn(await log.call(ALL, 'POST', '/verwerkingsacties', actie(person, wishes)));
const ids = (records: readonly Record<string, unknown>[]) => records.map(({ actieId }) => actieId);

describe('an export', () => {
  it('has the actions of a period as the API returns them, in the order in which they were first logged', async () => {
    const first = await post({ tijdstip: '2001-01-31T22:59:59Z', vertrouwelijkheid: 'vertrouwelijk' });
    const second = await post({ tijdstip: '2001-01-01T00:30:00+01:00', gebruiker: null });
    const [before, after] = [{ tijdstip: '2000-12-31T22:59:59.999Z' }, { tijdstip: '2001-01-31T23:00:00Z' }];
    for (const wishes of [before, after]) await post(wishes);
    const gone = await post({ tijdstip: '2001-01-15T00:00:00Z' });
    const path = `/verwerkingsacties/${gone.actieId}`;
    expect((await log.call(ALL, 'DELETE', path)).status).toBe(204);
    const records = await exported('2001-01-01', '2001-02-01');
    expect(ids(records)).toEqual([first.actieId, second.actieId]);
    for (const record of records) {
      const one = `/verwerkingsacties/${record.actieId}?beperkteSet=false`;
      expect(record).toEqual((await log.call(ALL, 'GET', one, undefined, HEADERS)).json);
    }
    expect(ids(await exported('2001-01-31T22:59:59Z', '2001-01-31T23:00:00Z'))).toEqual([first.actieId]);
  });

  it('can be limited to one activity or one processing, and includes LDV lines', async () => {
    const start = BigInt(Date.parse('2002-05-01T00:00:00Z')) * 1_000_000n;
    const spans = [newId(16), newId(16)].map((traceId) => line({ traceId, start, end: start }));
    expect((await log.send(spans)).answer?.rejectedSpans).toBe(0);
    const other = await post({ tijdstip: '2002-05-01T00:00:00Z', verwerkingsactiviteitId: null, verwerkingId: null });
    const year = ['2002-01-01', '2003-01-01'] as const;
    expect(await exported(...year)).toHaveLength(3);
    expect(ids(await exported(...year, '--activity', ACTIVITY))).not.toContain(other.actieId);
    const [record] = await exported(...year);
    const processing = String(record?.verwerkingId);
    expect(ids(await exported(...year, '--processing', processing.toUpperCase()))).toEqual([record?.actieId]);
    expect(await exported(...year, '--processing', processing, '--activity', OWN)).toEqual([]);
  });

  it('has with --history every version and its author, for actions with a selected version', async () => {
    const moved = await post({ tijdstip: '2003-01-01T00:00:00Z' });
    const path = `/verwerkingsacties/${moved.actieId}`;
    const put = actie(newPerson(), { tijdstip: '2010-01-01T00:00:00Z' });
    expect((await log.call(ALL, 'PUT', path, put)).status).toBe(200);
    expect((await log.call(ALL, 'DELETE', path)).status).toBe(204);
    expect(await exported('2003-01-01', '2004-01-01')).toEqual([]);
    expect(await exported('2003-01-01', '2004-01-01', '--history')).toMatchObject([
      { actieId: moved.actieId, versie: 1, vervallen: false, door: 'test', tijdstip: '2003-01-01T00:00:00Z' },
      { actieId: moved.actieId, versie: 2, vervallen: false, tijdstip: '2010-01-01T00:00:00Z' },
      { actieId: moved.actieId, versie: 3, vervallen: true },
    ]);
  });

  it('is itself an entry in the log, confidential when its contents are', async () => {
    const { verwerkingId } = await post({ tijdstip: '2004-01-01T00:00:00Z', vertrouwelijkheid: 'vertrouwelijk' });
    const started = new Date().toISOString();
    await exported('2004-01-01', '2004-02-01');
    await exported('2004-02-01', '2004-03-01', '--processing', String(verwerkingId), '--history');
    const entries = await exported(started, new Date(Date.now() + 1000).toISOString(), '--activity', OWN, '--history');
    expect(entries).toMatchObject([
      {
        actieNaam: 'Exporteren verwerkingenlog',
        handelingNaam: 'Export van 2003-12-31T23:00:00Z tot 2004-01-31T23:00:00Z',
        vertrouwelijkheid: 'vertrouwelijk',
        door: 'log export (auditor)',
        bewaartermijn: 'P10Y',
      },
      {
        handelingNaam: `Export van 2004-01-31T23:00:00Z tot 2004-02-29T23:00:00Z, verwerking ${verwerkingId}, alle versies`,
        vertrouwelijkheid: 'normaal',
      },
      // It contains the first one.
      { vertrouwelijkheid: 'vertrouwelijk' },
    ]);
    expect(new Set(entries.map((one) => one.verwerkingId)).size).toBe(3);
  });

  it('has every action once, however many there are', async () => {
    const start = BigInt(Date.parse('2005-05-01T00:00:00Z')) * 1_000_000n;
    const spans = Array.from({ length: 2500 }, () => line({ start, end: start }));
    expect((await log.send(spans)).answer?.rejectedSpans).toBe(0);
    const found = ids(await exported('2005-01-01', '2006-01-01'));
    expect(found).toHaveLength(2500);
    expect(found).toEqual([...new Set(found)].toSorted());
  });

  it.each([
    [['--from', '2026-01-01'], "required option '--to"],
    [['--from', '2026-01-01', '--to', '2026-02-30'], 'Expected a date'],
    [['--from', '2026-01-01T12:00:00', '--to', '2026-02-01'], 'Expected a date'],
    [['--from', '2026-01-02', '--to', '2026-01-01'], '--to must not be before --from'],
    [['--from', '2026-01-01', '--to', '2026-01-02', '--activity', 'x'], 'not a UUID'],
  ])('is refused with %j', async (args, reason) => {
    const { code, out, error } = await koppelvlak(database.url, ['log', 'export', ...args]);
    expect([code, out]).toEqual([2, '']);
    expect(error).toContain(reason);
  });
});
