/** Several suppliers in one aggregator: adding them, when each is read, and a supplier that blocks. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { saveSources } from '../../../src/raadsfeed/aggregator/store/sources.ts';
import { type FeedServer, readRecords } from '../support.ts';
import {
  BLOCKED,
  documentOf,
  entryOf,
  guid,
  type IbabsServer,
  itemOf,
  meetingOf,
  type Site,
  siteOf,
  startIbabs,
} from './ibabs/server.ts';
import { documentOf as oldDocument, meetingOf as oldMeeting } from './notubiz/supplier/answers.ts';
import { type NotubizServer, startNotubiz } from './notubiz/supplier/server.ts';
import { eventually, programBeside, sourceState, startAggregator, stateOf } from './support.ts';

const IBABS = 'ibabs:voorbeeldstad';
const ADD = ['bron', 'add', IBABS, '--organisatie', 'gm0363', '--naam', 'Gemeente Amsterdam'];

let supplier: IbabsServer;
let site: Site;
let older: NotubizServer;
let aggregator: FeedServer;
let work: string;

beforeEach(async () => {
  work = await mkdtemp(join(tmpdir(), 'koppelvlak-suppliers-'));
  supplier = await startIbabs();
  older = await startNotubiz();
  site = siteOf();
  supplier.sites.set('voorbeeldstad', site);
  aggregator = await startAggregator(environment());
});

afterEach(async () => {
  await aggregator.stop();
  await supplier.close();
  await older.close();
  await rm(work, { recursive: true, force: true });
});

function environment(): Record<string, string> {
  return { 'aggregator.notubizUrl': older.base, IBABS_URL: supplier.base, IBABS_CALLS_PER_MINUTE: '60000' };
}

const koppelvlak = (...words: string[]) => programBeside(aggregator.databaseUrl, environment(), words);

const today = new Date();
const dayAt = (days: number): string => new Date(today.getTime() + days * 86_400_000).toISOString().slice(0, 10);

describe('bron add of a supplier', () => {
  beforeEach(() => {
    site.meetings = [
      ...Array.from({ length: 12 }, (_, i) => meetingOf(i, dayAt(-i - 1))),
      meetingOf(50, dayAt(-3), { MeetingtypeId: guid(9002) }),
    ];
  });

  it('shows ten names and what --bodies omits, and adds nothing without --yes', async () => {
    const shown = await koppelvlak(...ADD, '--bodies', 'gemeenteraad');
    expect(shown).toMatchObject({ status: 2, json: undefined });
    expect(shown.stderr.match(/Gemeenteraad \d{4}/g)).toHaveLength(10);
    expect(shown.stderr).toContain('13 in the last quarter, of which 1 are left out by --bodies');
    expect((await koppelvlak('bron', 'list')).json).toEqual([]);
    const added = await koppelvlak(...ADD, '--bodies', 'gemeenteraad', '--yes');
    expect(added).toMatchObject({ status: 0, json: { added: ['ibabs:voorbeeldstad#gm0363'] } });
  });

  it('reports why the supplier refuses, and adds nothing', async () => {
    supplier.rule = () => ({ err: 'IPaddress 192.0.2.1 has no access to site voorbeeldstad!' });
    const refused = await koppelvlak(...ADD, '--yes');
    expect(refused).toMatchObject({ status: 1, json: undefined });
    expect(refused.stderr).toContain('have iBabs put it on its list');
    expect((await koppelvlak('bron', 'list')).json).toEqual([]);
  });

  it('changes a known source, and refuses one for days that another has', async () => {
    await koppelvlak(...ADD, '--yes');
    expect(await koppelvlak(...ADD, '--from', '2024-02-15', '--yes')).toMatchObject({
      status: 0,
      json: { changed: [IBABS] },
    });
    const old = ['bron', 'add', 'notubiz:281', '--organisatie', 'gm0363', '--naam', 'Gemeente Amsterdam', '--until'];
    const overlapping = await koppelvlak(...old, '2024-02-15');
    expect(overlapping).toMatchObject({ status: 1, json: undefined });
    expect(overlapping.stderr).toMatch(
      /ibabs:voorbeeldstad \(2024-02-15 to now\).*notubiz:281 \(the first day to 2024-02-15\)/,
    );
    expect(await koppelvlak(...old, '2024-02-14')).toMatchObject({ status: 0, json: { added: ['notubiz:281'] } });
    expect((await koppelvlak('bron', 'list')).json).toMatchObject([
      { adres: IBABS, vanaf: '2024-02-15', tot: null },
      { adres: 'notubiz:281', vanaf: null, tot: '2024-02-14' },
    ]);
  });
});

describe('bron import', () => {
  it('adds a list, reports new, changed and unchanged ones, and does nothing when a line is invalid', async () => {
    site.meetings = [meetingOf(1, dayAt(-1))];
    supplier.sites.set('bollenstreek', siteOf({ meetings: [meetingOf(2, dayAt(-1))] }));
    const list = join(work, 'bronnen.csv');
    const lines = [
      'bron,organisatie,naam,portaal,from,until,bodies',
      `${IBABS},gm0363,Gemeente Amsterdam,https://amsterdam.example,2020-01-01,,`,
      'ibabs:bollenstreek,gm0553,Gemeente Lisse,,,,raad',
      'notubiz:281,gm0534,"Gemeente Hillegom",,,2024-12-31,',
    ];
    await writeFile(
      list,
      [...lines, 'ibabs:x,gm1,Te kort,,,,', 'ibabs:y,gm0002,Fout,,gisteren,,', 'z,gm0003,Z,,,,('].join('\n'),
    );
    const faulty = await koppelvlak('bron', 'import', list, '--yes');
    expect(faulty).toMatchObject({ status: 1, json: undefined });
    for (const fault of [/line 5: a code is gm/, /line 6: the first day/, /line 7: z is not a source/]) {
      expect(faulty.stderr).toMatch(fault);
    }
    for (const [content, reason] of [
      ['{', /line 1: is not a JSON object/],
      ['{"bron": 1}', /line 1: bron is not text/],
      ['{"adres": "x"}', /line 1: has an unknown column, adres/],
      ['', /has no sources/],
    ] as const) {
      await writeFile(list, content);
      expect(await koppelvlak('bron', 'import', list)).toMatchObject({
        status: 1,
        stderr: expect.stringMatching(reason),
      });
    }
    expect(await koppelvlak('bron', 'import', join(work, 'nowhere'))).toMatchObject({ status: 1 });
    expect((await koppelvlak('bron', 'list')).json).toEqual([]);
    await writeFile(list, lines.join('\n'));
    expect(await koppelvlak('bron', 'import', list)).toMatchObject({ status: 2, json: undefined });
    const added = await koppelvlak('bron', 'import', list, '--yes');
    expect(added).toMatchObject({
      status: 0,
      json: { added: [IBABS, 'ibabs:bollenstreek#gm0553', 'notubiz:281'], changed: [], known: [] },
    });
    const records = [
      { bron: IBABS, organisatie: 'gm0363', naam: 'Gemeente Amsterdam', from: '2021-01-01' },
      { bron: 'notubiz:281', organisatie: 'gm0534', naam: 'Gemeente Hillegom', until: '2024-12-31' },
    ];
    await writeFile(list, records.map((record) => JSON.stringify(record)).join('\n'));
    const again = await koppelvlak('bron', 'import', list, '--yes');
    expect(again).toMatchObject({ status: 0, json: { added: [], changed: [IBABS], known: ['notubiz:281'] } });
    expect(again.stderr).toContain('from: 2020-01-01 → 2021-01-01');
  });
});

describe('an organisation that changed supplier', () => {
  const keys = async (): Promise<string[]> =>
    [...stateOf(await readRecords(aggregator.api)).keys()].map((key) => key.replace('gm0363/', '')).toSorted();

  it("has each day from that day's supplier, even when the old one is read again", async () => {
    for (const [id, day] of [
      [11, '2024-02-14'],
      [12, '2024-02-15'],
    ] as const) {
      const plannings = [{ start_date: `${day} 19:30:00`, end_date: null }];
      older.organisation.addMeeting(oldMeeting(id, { plannings, documents: [oldDocument(id)] }));
    }
    site.meetings = [meetingOf(1, '2024-02-14'), meetingOf(2, '2024-02-15', { Documents: [documentOf(12)] })];
    site.registers = [
      {
        id: guid(8001),
        name: 'Moties',
        entries: [entryOf(601, { Datum: '14-2-2024' }), entryOf(602, { Datum: '15-2-2024' })],
      },
    ];
    const old = {
      adres: 'notubiz:281',
      soort: 'leveranciers-api',
      organisatiecodes: ['gm0363'],
      naam: 'Gemeente Amsterdam',
      vanaf: '2024-01-01',
    } as const;
    await saveSources(aggregator.pool, [old]);
    await eventually(async () => expect((await sourceState(aggregator.pool, old.adres)).bijgewerkt).not.toBeNull());
    expect(await keys()).toEqual([
      'Informatieobject/document-11',
      'Informatieobject/document-12',
      'Vergadering/meeting-11',
      'Vergadering/meeting-12',
    ]);
    expect(await koppelvlak(...ADD, '--from', '2024-02-15', '--yes')).toMatchObject({ status: 1 });
    await saveSources(aggregator.pool, [{ ...old, tot: '2024-02-14' }]);
    expect(await koppelvlak(...ADD, '--from', '2024-02-15', '--yes')).toMatchObject({ status: 0 });
    const expected = [
      'Informatieobject/document-11',
      `Informatieobject/ibabs-document-${guid(12)}`,
      `Informatieobject/ibabs-registerstuk-${guid(602)}`,
      `Vergadering/ibabs-meeting-${guid(2)}`,
      'Vergadering/meeting-11',
    ];
    // The old source's items after its last day are more than a tenth: that takes an operator.
    await eventually(async () => expect((await sourceState(aggregator.pool, IBABS)).bijgewerkt).not.toBeNull());
    await eventually(async () => {
      const issues = await koppelvlak('bron', 'issues', old.adres);
      expect(JSON.stringify(issues.json)).toContain('mass-delete-withheld');
    });
    expect(await koppelvlak('bron', 'sync', old.adres, '--allow-mass-delete')).toMatchObject({
      status: 0,
      json: { complete: true },
    });
    expect(await keys()).toEqual(expected);
    const settled = await readRecords(aggregator.api);
    for (const adres of [old.adres, IBABS]) {
      expect(await koppelvlak('bron', 'sync', adres)).toMatchObject({
        status: 0,
        json: { complete: true, published: 0, deleted: 0 },
      });
    }
    expect(await readRecords(aggregator.api)).toEqual(settled);
    expect((await aggregator.api.call('GET', '/')).json).toMatchObject({
      organisaties: [
        {
          organisatiecode: 'gm0363',
          herkomstSoort: 'leveranciers-api',
          laatstBijgewerkt: expect.stringMatching(/^20/),
        },
      ],
    });
    for (const [adres, shown] of [
      [old.adres, 2],
      [IBABS, 3],
    ] as const) {
      const checked = await koppelvlak('bron', 'check', adres);
      expect(checked).toMatchObject({ status: 0, json: { percentage: 100, shown, held: shown } });
      expect(checked.json.months).toMatchObject([{ month: '2024-02' }]);
    }
  });
});

describe('a supplier that blocks the address', () => {
  it('is not called again by anybody until an operator resumes it', async () => {
    site.meetings = [meetingOf(1, dayAt(-1), { MeetingItems: [itemOf(11, '1')] })];
    supplier.sites.set('elders', siteOf({ meetings: [meetingOf(2, dayAt(-1))] }));
    for (const [adres, code] of [
      [IBABS, 'gm0363'],
      ['ibabs:elders', 'gm0002'],
    ] as const) {
      await saveSources(aggregator.pool, [
        {
          adres,
          soort: 'leveranciers-api',
          organisatiecodes: [code],
          naam: code,
          vanaf: dayAt(-30),
        },
      ]);
      await eventually(async () => expect((await sourceState(aggregator.pool, adres)).bijgewerkt).not.toBeNull());
    }
    const before = await readRecords(aggregator.api);
    supplier.rule = () => BLOCKED;
    const calls = supplier.calls.length;
    expect(await koppelvlak('bron', 'sync', IBABS)).toMatchObject({
      status: 1,
      json: { complete: false, reason: expect.stringContaining('koppelvlak bron resume ibabs') },
    });
    // At most one other call was in flight.
    const blocked = supplier.calls.length;
    expect(blocked).toBeLessThanOrEqual(calls + 2);
    supplier.rule = undefined;
    expect(await koppelvlak('bron', 'sync', 'ibabs:elders')).toMatchObject({ status: 1, json: { complete: false } });
    expect(
      await koppelvlak('bron', 'add', 'ibabs:nieuw', '--organisatie', 'gm0003', '--naam', 'N', '--yes'),
    ).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('iBabs blocks the address'),
    });
    expect(supplier.calls).toHaveLength(blocked);
    await eventually(async () =>
      expect(await sourceState(aggregator.pool, 'ibabs:elders')).toMatchObject({ foutSoort: 'blocked' }),
    );
    expect(await readRecords(aggregator.api)).toEqual(before);
    expect(await koppelvlak('bron', 'resume', 'ibabs')).toMatchObject({ status: 0, json: { wasBlocked: true } });
    expect(await koppelvlak('bron', 'sync', 'ibabs:elders')).toMatchObject({ status: 0, json: { complete: true } });
  });
});
