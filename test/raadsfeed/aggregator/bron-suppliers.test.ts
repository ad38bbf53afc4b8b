/** Suppliers with an address for each organisation, as an operator reads and checks them: the program on a real database. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Pool } from '../../../src/database/pool.ts';
import { type ProgramOnDatabase, programOnDatabase } from '../../cli/program.ts';
import { callProgram, type Ended } from '../../support/program.ts';
import { servicePool } from '../support.ts';
import { documentOf as goDocumentOf, meetingOf as goMeetingOf, itemOf, startGo } from './go/server.ts';
import {
  entryOf,
  guid,
  documentOf as ibabsDocumentOf,
  itemOf as ibabsItemOf,
  meetingOf as ibabsMeetingOf,
  siteOf,
  startIbabs,
} from './ibabs/server.ts';
import { agendaOf, documentOf, pointOf, RID, startParlaeus } from './parlaeus/server.ts';

const DAYS = ['--from', '2025-01-01', '--to', '2025-03-31'] as const;

let folder: string;
let program: ProgramOnDatabase;
let pool: Pool;
let supplier: { close(): Promise<void> } | undefined;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'koppelvlak-test-'));
  await writeFile(join(folder, 'rid'), `${RID}\n`);
  program = await programOnDatabase();
  pool = servicePool(program.databaseUrl, 2);
});
afterEach(async () => {
  await pool.end();
  await program.drop();
  await supplier?.close();
  await rm(folder, { recursive: true, force: true });
});

function add(adres: string, ...more: readonly string[]): ReturnType<ProgramOnDatabase['run']> {
  const words = ['--organisatie', 'gm0406', '--naam', 'Gemeente Huizen', '--from', '2025-01-01', '--yes'];
  return program.run('bron', 'add', adres, ...words, ...more);
}

async function optionsOf(adres: string): Promise<unknown> {
  const { rows } = await pool.query('select options from aggregator.sources where address = $1', [adres]);
  return rows[0]?.options;
}

async function keys(): Promise<string[]> {
  const { rows } = await pool.query<{ key: string }>(
    `select resource_type || '/' || bronidentificatie as key from raadsfeed.current_records order by 1`,
  );
  return rows.map(({ key }) => key);
}

/** The report of `bron check`, without its heading: month, shown, held, missing, of which unnamed. */
function reportOf({ stdout }: Ended): string[] {
  return stdout
    .trimEnd()
    .split('\n')
    .slice(2)
    .map((line) => line.replaceAll(/ +/g, ' '));
}

describe.each(['v1', 'v2'] as const)('GemeenteOplossingen %s', (version) => {
  it('is read, published and measured by month; confidential items are in neither', async () => {
    const go = await startGo(version);
    supplier = go;
    const secret = { confidential: 1, title: 'Zaak Jansen' };
    const items = [itemOf(1, { documents: [goDocumentOf(7)] }), itemOf(2, secret)];
    go.meetings.set(11, goMeetingOf(11, { items }));
    go.meetings.set(12, goMeetingOf(12, { date: '2025-03-04' }));
    go.meetings.set(13, goMeetingOf(13, { date: '2025-03-05', dmu: { id: 15, name: 'Raad van Blaricum' } }));
    const bodies = ['--not-bodies', 'Blaricum'] as const;
    const adres = `go:${go.address}#gm0406`;
    expect(await add(adres, ...bodies)).toMatchObject({ status: 0, stdout: `Added: ${adres}\n` });
    expect(await optionsOf(adres)).toEqual({ version, notBodies: 'Blaricum' });
    // Adding it again changes the given values, and keeps the detected ones.
    const changed = await add(adres, ...bodies, '--portal', 'https://x.example');
    expect(changed).toMatchObject({ status: 0, stdout: `Changed: ${adres}\n` });
    expect(await optionsOf(adres)).toEqual({ version, notBodies: 'Blaricum' });
    expect(await add(adres, ...bodies, '--document-types', 'Besluit')).toMatchObject({
      status: 2,
      stderr: expect.stringContaining('--document-types needs all meetings'),
    });
    const synced = await program.json('bron', 'sync', adres, ...DAYS);
    expect(synced).toMatchObject({ status: 0, result: { complete: true, issues: 0 } });
    expect(await keys()).toEqual([
      'Agendapunt/go-agendapunt-1',
      'Informatieobject/go-document-7',
      'Vergadering/go-meeting-11',
      'Vergadering/go-meeting-12',
    ]);
    const months = [
      { month: '2025-01', shown: 3, held: 3 },
      { month: '2025-03', shown: 1, held: 1 },
    ];
    const checked = await program.json('bron', 'check', adres, ...DAYS);
    expect(checked).toMatchObject({ status: 0, result: { percentage: 100, months } });
    expect(reportOf(await program.run('bron', 'check', adres, ...DAYS))).toEqual([
      '2025-01 3 3 0 0',
      '2025-03 1 1 0 0',
      '100 % of 4',
      'left out: 1 confidential, 1 of other bodies, 0 of other days',
    ]);
    // Meetings missing from the feed are found by the supplier's own count.
    await pool.query(`delete from raadsfeed.current_records where bronidentificatie = 'go-document-7'`);
    const lacking = await program.json('bron', 'check', adres, ...DAYS);
    expect(lacking).toMatchObject({
      status: 1,
      result: { months: [{ missing: ['Informatieobject/go-document-7'] }, {}] },
    });
    const { rows } = await pool.query('select * from aggregator.issues');
    expect(JSON.stringify([synced, checked, lacking, rows])).not.toContain('Jansen');
  });

  it('may be given by a malformed address, and the command says how it was read', async () => {
    const go = await startGo(version);
    supplier = go;
    const adres = `go:${go.address}`;
    expect(await add(`${adres}//`)).toMatchObject({
      status: 0,
      stdout: `Added: ${adres}\n`,
      stderr: expect.stringMatching(new RegExp(`^${go.address}// was read as ${go.address}$`, 'm')),
    });
    expect((await add(adres)).stderr).not.toContain('was read as');
  });

  it('that has not opened its interface says what to do', async () => {
    const go = await startGo(version);
    supplier = go;
    go.isOpen = false;
    const refused = await add(`go:${go.address}`);
    expect(refused).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('has not opened its public interface'),
    });
    expect(await optionsOf(`go:${go.address}`)).toBeUndefined();
    go.isOpen = true;
    await add(`go:${go.address}`);
    go.isOpen = false;
    expect(await program.json('bron', 'sync', `go:${go.address}`, ...DAYS)).toMatchObject({
      status: 1,
      result: { complete: false },
    });
    const { stdout } = await program.run('bron', 'issues', `go:${go.address}`);
    expect(stdout).toContain('the organisation has not opened its public interface; ask it to');
  });
});

describe('the period of a source', () => {
  it('that ends within a quarter takes later items out of the feed, until it ends later again', async () => {
    const go = await startGo('v1');
    supplier = go;
    go.meetings.set(11, goMeetingOf(11, { documents: [goDocumentOf(7)] }));
    go.meetings.set(12, goMeetingOf(12, { date: '2025-02-20', documents: [goDocumentOf(7), goDocumentOf(8)] }));
    const adres = `go:${go.address}`;
    const both = ['document-7', 'document-8', 'meeting-11', 'meeting-12'];
    const published = async () => (await keys()).map((key) => key.split('/go-')[1]);
    for (const [until, expected] of [
      ['2025-03-31', both],
      ['2025-01-31', ['document-7', 'meeting-11']],
      ['2025-02-28', both],
    ] as const) {
      expect(await add(adres, '--until', until)).toMatchObject({ status: 0 });
      if (expected !== both) {
        // More than a tenth: it waits for an operator.
        await program.json('bron', 'sync', adres);
        expect(await published()).toEqual(both);
        expect((await program.run('bron', 'issues', adres)).stdout).toContain('mass-delete-withheld');
      }
      const synced = await program.json('bron', 'sync', adres, '--allow-mass-delete');
      expect(synced).toMatchObject({ status: 0, result: { complete: true } });
      expect(await published()).toEqual(expected);
    }
    expect((await program.run('bron', 'issues', adres)).stdout).toBe('No issues.\n');
  });

  it('prevents another address of the supplier, because its numbers are the same', async () => {
    const go = await startGo('v1');
    supplier = go;
    await add(`go:${go.address}`, '--until', '2025-03-31');
    const next = ['--organisatie', 'gm0406', '--naam', 'Gemeente Huizen', '--from', '2025-04-01', '--yes'];
    const refused = await program.run('bron', 'add', 'go:http://127.0.0.1:9/api', ...next);
    expect(refused).toMatchObject({ status: 1, stderr: expect.stringContaining(`gm0406 has go:${go.address}: each`) });
    // Another supplier's numbers never collide with these.
    expect(await program.run('bron', 'add', 'notubiz:281', ...next)).toMatchObject({ status: 0 });
  });
});

describe('bron switch of GemeenteOplossingen', () => {
  const dayAt = (days: number): string => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10);

  it('changes from one version to the other and back: nothing is duplicated or lost', async () => {
    const go = await startGo('v1', 'v2');
    supplier = go;
    const ids = Array.from({ length: 12 }, (_, i) => 11 + i);
    for (const id of ids) {
      const items = [itemOf(100 + id, { documents: [goDocumentOf(200 + id)] })];
      go.meetings.set(id, goMeetingOf(id, { date: dayAt(-id), items, documents: [goDocumentOf(1)] }));
    }
    const adres = `go:${go.address}`;
    await add(adres, '--from', dayAt(-80));
    expect(await optionsOf(adres)).toEqual({ version: 'v1' });
    const sync = () => program.json('bron', 'sync', adres);
    expect(await sync()).toMatchObject({ status: 0, result: { complete: true, published: 37 } });
    const before = await keys();
    expect(before).toHaveLength(37);
    const organisations = [{ organisatiecode: 'gm0406', same: 37, deleted: [], added: [], isMassDelete: false }];
    expect(await program.json('bron', 'switch', adres, 'v2', '--dry-run')).toMatchObject({
      status: 0,
      result: { organisations, switched: false },
    });
    expect(await optionsOf(adres)).toEqual({ version: 'v1' });
    for (const version of ['v2', 'v1'] as const) {
      const switched = await program.run('bron', 'switch', adres, version);
      expect(switched).toMatchObject({
        status: 0,
        stdout: `gm0406: 37 the same, 0 to delete, 0 to add\nSwitched to ${version}.\n`,
      });
      expect(await optionsOf(adres)).toEqual({ version });
      // Only the addresses of the files differ.
      expect(await sync()).toMatchObject({ status: 0, result: { complete: true, published: 13, deleted: 0 } });
      expect(await keys()).toEqual(before);
    }
    expect(await sync()).toMatchObject({ status: 0, result: { complete: true, published: 0, deleted: 0 } });
    const { rows } = await pool.query("select count(*) as deletes from raadsfeed.records where op <> 'upsert'");
    expect(rows).toEqual([{ deletes: 0 }]);
  });

  it('changes the version of the source as it is by then; one that was removed meanwhile stays removed', async () => {
    const go = await startGo('v1', 'v2');
    supplier = go;
    const adres = `go:${go.address}`;
    await add(adres, '--from', dayAt(-80));
    const switchWhile = async (statement: string): Promise<Ended> => {
      let done: Promise<unknown> | undefined;
      go.before = async ({ path }) => {
        if (path.includes('/v2/')) done ??= pool.query(statement);
        await done;
      };
      return await program.run('bron', 'switch', adres, 'v2');
    };
    const renamed = "update aggregator.sources set name = 'Huizen', paused = true";
    expect(await switchWhile(renamed)).toMatchObject({ status: 0 });
    const read = async () => (await pool.query('select name as naam, paused, options from aggregator.sources')).rows;
    expect(await read()).toEqual([{ naam: 'Huizen', paused: true, options: { version: 'v2' } }]);
    await pool.query('update aggregator.sources set options = \'{"version":"v1"}\'');
    const removed = await switchWhile(
      'with o as (delete from aggregator.source_organisations returning 1) delete from aggregator.sources where (select count(*) from o) > 0',
    );
    expect(removed).toMatchObject({ status: 1, stderr: expect.stringContaining('was removed meanwhile') });
    expect(await read()).toEqual([]);
  });

  it('is refused if it would lose more than a tenth, cannot be read or has no versions', async () => {
    const go = await startGo('v1', 'v2');
    supplier = go;
    const adres = `go:${go.address}`;
    const items = [itemOf(1, { confidential: 1 })];
    const documents = Array.from({ length: 20 }, (_, i) => goDocumentOf(1 + i));
    go.meetings.set(11, goMeetingOf(11, { date: dayAt(-3), items, documents }));
    await add(adres, '--from', dayAt(-80));
    await program.json('bron', 'sync', adres);
    // The second version does not tell on which item a meeting's documents are.
    expect(await program.run('bron', 'switch', adres, 'v2')).toMatchObject({
      status: 1,
      stdout: expect.stringContaining('- Informatieobject/go-document-1'),
      stderr: expect.stringContaining('more than a tenth'),
    });
    go.rule = ({ path }) => (path.includes('/v2/') ? { status: 404 } : undefined);
    expect(await program.run('bron', 'switch', adres, 'v2', '--allow-mass-delete')).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('cannot be read by v2'),
    });
    expect(await program.run('bron', 'switch', adres, 'v1')).toMatchObject({ status: 2 });
    expect(await optionsOf(adres)).toEqual({ version: 'v1' });
    await program.run('bron', 'add', 'notubiz:281', '--organisatie', 'gm0363', '--naam', 'Amsterdam', '--yes');
    expect(await program.run('bron', 'switch', 'notubiz:281', 'v2')).toMatchObject({
      status: 2,
      stderr: expect.stringContaining('only go: has versions'),
    });
  });
});

describe('Parlaeus', () => {
  it('is read, published and measured, and its key is nowhere', async () => {
    const parlaeus = await startParlaeus();
    supplier = parlaeus;
    const points = [pointOf('p1', { documents: [documentOf('d1'), documentOf('d2', { confidential: 1 })] })];
    parlaeus.agendas.set('a1', agendaOf('a1', { points }));
    parlaeus.agendas.set('a2', agendaOf('a2', { date: '20250210' }));
    parlaeus.bodies.set('c2', 'Raad van Blaricum');
    parlaeus.agendas.set('a3', agendaOf('a3', { cmid: 'c2' }));
    const adres = `parlaeus:${parlaeus.base}#gm0406`;
    const bodies = ['--not-bodies', 'Blaricum'] as const;
    expect(await add(adres, ...bodies)).toMatchObject({ status: 2 });
    expect(await add(adres, ...bodies, '--rid-file', join(folder, 'nowhere'))).toMatchObject({ status: 1 });
    expect(await add(adres, ...bodies, '--rid-file', join(folder, 'rid'))).toMatchObject({ status: 0 });
    const synced = await program.json('bron', 'sync', adres, ...DAYS);
    expect(synced).toMatchObject({ status: 0, result: { complete: true } });
    expect(await keys()).toEqual([
      'Agendapunt/parlaeus-agendapunt-p1',
      'Informatieobject/parlaeus-document-d1',
      'Vergadering/parlaeus-meeting-a1',
      'Vergadering/parlaeus-meeting-a2',
    ]);
    const checked = await program.json('bron', 'check', adres, ...DAYS);
    expect(checked).toMatchObject({ status: 0, result: { percentage: 100, shown: 4, held: 4 } });
    expect(reportOf(await program.run('bron', 'check', adres, ...DAYS))).toEqual([
      '2025-01 3 3 0 0',
      '2025-02 1 1 0 0',
      '100 % of 4',
      'left out: 1 confidential, 1 of other bodies, 0 of other days',
    ]);
    parlaeus.rule = ({ query }) => ({ status: 500, body: { message: `rid ${query.rid} failed` } });
    const failed = await program.json('bron', 'sync', adres, ...DAYS);
    expect(failed).toMatchObject({ status: 1, result: { complete: false } });
    const issues = await program.json('bron', 'issues', adres);
    expect(JSON.stringify(issues.result)).toContain('failed');
    const stored = await Promise.all(
      ['aggregator.sources', 'aggregator.issues', 'aggregator.parts', 'raadsfeed.texts'].map(
        async (table) => (await pool.query(`select t::text from ${table} t`)).rows,
      ),
    );
    expect(JSON.stringify([synced, checked, failed, issues, stored])).not.toContain(RID);
  });
});

describe('iBabs', () => {
  it('is measured by month, including registers; omissions are counted by reason', async () => {
    const ibabs = await startIbabs();
    supplier = ibabs;
    const env = { ...program.env, IBABS_URL: ibabs.base, IBABS_CALLS_PER_MINUTE: '60000' };
    const secret = { Confidential: true };
    const MeetingItems = [
      ibabsItemOf(11, '1', { Documents: [ibabsDocumentOf(501), ibabsDocumentOf(502, secret)] }),
      ibabsItemOf(12, '2', { ...secret, Documents: [ibabsDocumentOf(503)] }),
    ];
    const entries = [
      entryOf(601, { Datum: '14-1-2025' }),
      entryOf(602, { Datum: '1-6-2024' }),
      entryOf(603, { Datum: '1-3-2025' }),
    ];
    const meetings = [
      ibabsMeetingOf(1, '2025-01-14', { MeetingItems }),
      ibabsMeetingOf(2, '2025-02-03'),
      ibabsMeetingOf(3, '2025-02-04', { MeetingtypeId: guid(9002) }),
    ];
    const registers = [{ id: guid(8001), name: 'Moties', entries }];
    ibabs.sites.set('voorbeeldstad', siteOf({ meetings, registers }));
    const adres = 'ibabs:voorbeeldstad#gm0406';
    const words = ['--organisatie', 'gm0406', '--naam', 'Gemeente Huizen', '--from', '2025-01-01', '--until'];
    const bodies = ['--not-bodies', 'Hillegom', '--yes'];
    expect(await callProgram(['bron', 'add', adres, ...words, '2025-03-31', ...bodies], env)).toMatchObject({
      status: 0,
    });
    expect(await callProgram(['bron', 'sync', adres], env)).toMatchObject({ status: 0 });
    expect(reportOf(await callProgram(['bron', 'check', adres], env))).toEqual([
      '2025-01 4 4 0 0',
      '2025-02 1 1 0 0',
      '2025-03 1 1 0 0',
      '100 % of 6',
      'left out: 3 confidential, 1 of other bodies, 1 of other days',
    ]);
  });
});
