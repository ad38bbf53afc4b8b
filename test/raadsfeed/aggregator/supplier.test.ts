/** A supplier's API as a source: windows, issues, coverage, and the switch to a feed. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { saveSources } from '../../../src/raadsfeed/aggregator/store/sources.ts';
import { callProgram } from '../../support/program.ts';
import { type FeedServer, publishLines, readRecords, startFeed } from '../support.ts';
import { agendaItemOf, documentOf, meetingOf } from './notubiz/supplier/answers.ts';
import { type NotubizServer, startNotubiz, UNCAUGHT } from './notubiz/supplier/server.ts';
import {
  AGGREGATOR_ENV,
  eventually,
  programBeside,
  SOURCE_ENV,
  sourceState,
  startAggregator,
  stateOf,
} from './support.ts';

let supplier: NotubizServer;
let aggregator: FeedServer;

beforeEach(async () => {
  supplier = await startNotubiz();
  supplier.organisation.addMeeting(
    meetingOf(11, { agenda_items: [agendaItemOf(101, { documents: [documentOf(1)] })], documents: [documentOf(2)] }),
  );
  aggregator = await startAggregator({ 'aggregator.notubizUrl': supplier.base });
});

afterEach(async () => {
  await aggregator.stop();
  await supplier.close();
});

async function add(): Promise<void> {
  await saveSources(aggregator.pool, [
    {
      adres: 'notubiz:281',
      soort: 'leveranciers-api',
      organisatiecodes: ['gm0363'],
      naam: 'Gemeente Amsterdam',
      vanaf: '2025-01-01',
    },
  ]);
}

const koppelvlak = (...words: string[]) =>
  programBeside(aggregator.databaseUrl, { 'aggregator.notubizUrl': supplier.base }, words);

describe('the API of a supplier', () => {
  it('is read window by window, published, and shown with its origin', async () => {
    await add();
    await eventually(async () => {
      expect(await sourceState(aggregator.pool, 'notubiz:281')).toMatchObject({
        dekking: 100,
        meldingen: 0,
        fout: null,
      });
      expect((await sourceState(aggregator.pool, 'notubiz:281')).bijgewerkt).not.toBeNull();
    });
    const { stdout } = await callProgram(['bron', 'list'], { ...AGGREGATOR_ENV, DATABASE_URL: aggregator.databaseUrl });
    expect(stdout).toMatch(/^notubiz:281 +following /m);
    expect((await koppelvlak('bron', 'list')).json).toMatchObject([{ fase: null }]);
    expect([...stateOf(await readRecords(aggregator.api)).keys()].toSorted()).toEqual([
      'gm0363/Agendapunt/agendapunt-101',
      'gm0363/Informatieobject/document-1',
      'gm0363/Informatieobject/document-2',
      'gm0363/Vergadering/meeting-11',
    ]);
    const { json } = await aggregator.api.call('GET', '/');
    expect(json).toMatchObject({
      organisaties: [
        {
          organisatiecode: 'gm0363',
          naam: 'Gemeente Amsterdam',
          herkomstSoort: 'leveranciers-api',
          laatstBijgewerkt: expect.stringMatching(/^20/),
        },
      ],
    });
  });

  it('is not up to date when it cannot be read completely, and its issues are stored', async () => {
    supplier.rule = ({ path }) => (path === '/events/meetings/11' ? UNCAUGHT : undefined);
    await add();
    await eventually(async () =>
      expect((await sourceState(aggregator.pool, 'notubiz:281')).meldingen).toBeGreaterThan(0),
    );
    const state = await sourceState(aggregator.pool, 'notubiz:281');
    expect(state.bijgewerkt).toBeNull();
    expect(state.dekking).toBeLessThan(100);
    const issues = await koppelvlak('bron', 'issues', 'notubiz:281');
    expect(issues.status).toBe(0);
    expect(JSON.stringify(issues.json)).toContain('/events/meetings/11');
    const metrics = await (await fetch(`${aggregator.server.managementUrl}/metrics`)).text();
    expect(metrics).toMatch(/koppelvlak_aggregator_coverage_percent\{source="notubiz:281"\} \d/);
    expect(metrics).toMatch(/koppelvlak_aggregator_issues\{source="notubiz:281"\} [1-9]/);
    const { json } = await aggregator.api.call('GET', '/');
    expect(JSON.stringify(json)).not.toMatch(/"laatstBijgewerkt":"20/);
    const synced = await koppelvlak('bron', 'sync', 'notubiz:281', '--from', '2025-01-01', '--to', '2025-03-31');
    expect(synced).toMatchObject({
      status: 1,
      json: { complete: false, issues: 1 },
      stderr: expect.stringContaining('see koppelvlak bron issues'),
    });
  });

  it('is synchronised and checked by commands', async () => {
    const added = await koppelvlak(
      'bron',
      'add',
      'notubiz:281',
      '--organisatie',
      'GM0363',
      '--naam',
      'Gemeente Amsterdam',
      '--from',
      '2025-01-01',
    );
    expect(added).toMatchObject({ status: 0, json: { added: ['notubiz:281'] } });
    const stretch = ['2025-01-01', '2025-03-31'] as const;
    const synced = await koppelvlak('bron', 'sync', 'notubiz:281', '--from', stretch[0], '--to', stretch[1]);
    expect(synced).toMatchObject({ status: 0, json: { complete: true, withheld: 0, issues: 0 } });
    const checked = await koppelvlak('bron', 'check', 'notubiz:281', '--from', stretch[0], '--to', stretch[1]);
    expect(checked).toMatchObject({ status: 0, json: { percentage: 100, shown: 4, held: 4 } });
    const listed = await koppelvlak('bron', 'list');
    expect(listed).toMatchObject({ status: 0, json: [{ adres: 'notubiz:281', dekking: 100 }] });
    const twice = await koppelvlak('bron', 'add', 'notubiz:282', '--organisatie', 'gm0363', '--naam', 'X');
    expect(twice).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('gm0363 has a source already: notubiz:281'),
    });
  });

  it('is paused and removed by commands; an invalid source is refused', async () => {
    await add();
    expect(await koppelvlak('bron', 'pause', 'notubiz:281')).toMatchObject({ status: 0, json: { paused: true } });
    expect(await sourceState(aggregator.pool, 'notubiz:281')).toMatchObject({ toestand: 'gepauzeerd' });
    expect(await koppelvlak('bron', 'remove', 'notubiz:281')).toMatchObject({ status: 0, json: { removed: true } });
    expect(await koppelvlak('bron', 'remove', 'notubiz:281')).toMatchObject({ status: 1 });
    expect(await koppelvlak('bron', 'pause', 'ftp://x')).toMatchObject({ status: 2 });
    expect(await koppelvlak('bron', 'add', 'notubiz:281')).toMatchObject({ status: 2 });
  });

  it('is replaced by a feed with the same identifiers: nothing is published again', async () => {
    await add();
    await eventually(async () => expect((await sourceState(aggregator.pool, 'notubiz:281')).bijgewerkt).not.toBeNull());
    const before = await readRecords(aggregator.api);
    const own = await startFeed(SOURCE_ENV);
    try {
      const lines = before.map(({ op, resourceType, data }) => ({ op, resourceType, data }));
      await publishLines(own.pool, lines);
      const switched = await koppelvlak('bron', 'switch', 'notubiz:281', own.mount);
      expect(switched).toMatchObject({
        status: 0,
        json: { switched: true, organisations: [{ same: 4, deleted: [], added: [] }] },
      });
      await eventually(async () => {
        const { json } = await aggregator.api.call('GET', '/');
        expect(json).toMatchObject({ organisaties: [{ herkomstSoort: 'feed', herkomst: `${own.mount}/feed` }] });
        expect((await sourceState(aggregator.pool, own.mount)).behind).toBe(0);
      });
      expect(await readRecords(aggregator.api)).toEqual(before);
      const synced = await koppelvlak('bron', 'sync', own.mount);
      expect(synced).toMatchObject({ status: 0, json: { complete: true, deleted: 0 } });
    } finally {
      await own.stop();
    }
  });

  it('is replaced by a feed with other identifiers only with --allow-mass-delete', async () => {
    await add();
    await eventually(async () => expect((await sourceState(aggregator.pool, 'notubiz:281')).bijgewerkt).not.toBeNull());
    const own = await startFeed(SOURCE_ENV);
    try {
      const organisatie = { gemeente: 'gm0363', naam: 'Gemeente Amsterdam' };
      const data = { bronidentificatie: 'anders-1', dossiertype: 'vergadering', organisatie, naam: 'Raad' };
      await publishLines(own.pool, [{ op: 'upsert', resourceType: 'Vergadering', data }]);
      const refused = await koppelvlak('bron', 'switch', 'notubiz:281', own.mount);
      expect(refused).toMatchObject({ status: 1, json: { switched: false, isMassDelete: true } });
      expect(await readRecords(aggregator.api)).toHaveLength(4);
      expect(await koppelvlak('bron', 'switch', 'notubiz:281', own.mount, '--allow-mass-delete')).toMatchObject({
        status: 0,
      });
      await eventually(async () => {
        expect([...stateOf(await readRecords(aggregator.api)).keys()]).toEqual(['gm0363/Vergadering/anders-1']);
      });
    } finally {
      await own.stop();
    }
  });
});
