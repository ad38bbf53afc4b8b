/** Forms that no recording shows: reported before a source is added, and once for the source, however often and wherever they occur. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { type ProgramOnDatabase, programOnDatabase } from '../../cli/program.ts';
import { entryOf, guid, type IbabsServer, meetingOf, siteOf, startIbabs } from './ibabs/server.ts';
import { agendaOf, type ParlaeusServer, pointOf, RID, startParlaeus } from './parlaeus/server.ts';

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

const IBABS = 'ibabs:voorbeeldstad';
const ORGANISATION = ['--organisatie', 'gm0406', '--naam', 'Gemeente Huizen', '--from', '2025-01-01', '--yes'];
const GUESSED = 'https://voorbeeldstad.bestuurlijkeinformatie.nl, guessed from the name of the site';
const ENTRY = 'an entry without documents is linked by its EntryId: /Reports/Item/…';

let folder: string;
let ibabs: IbabsServer;
let parlaeus: ParlaeusServer;
let program: ProgramOnDatabase;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'koppelvlak-test-'));
  await writeFile(join(folder, 'rid'), RID);
  ibabs = await startIbabs();
  parlaeus = await startParlaeus();
  program = await programOnDatabase({ IBABS_URL: ibabs.base, IBABS_CALLS_PER_MINUTE: '60000' });
});
afterEach(async () => {
  await program.drop();
  await parlaeus.close();
  await ibabs.close();
  await rm(folder, { recursive: true, force: true });
});

interface Issue {
  readonly what: string;
  readonly where: string;
  readonly detail: string;
  readonly window: unknown;
}

/** Syncs a source twice, and returns its unconfirmed forms. */
async function unconfirmed(adres: string): Promise<readonly Issue[]> {
  for (let i = 0; i < 2; i += 1) {
    expect(await program.json('bron', 'sync', adres)).toMatchObject({ status: 0, result: { complete: true } });
  }
  const { result } = await program.json('bron', 'issues', adres);
  if (!Array.isArray(result)) throw new Error('not a list of issues');
  const found = result.filter(({ what }: Issue) => what === 'unconfirmed-form');
  return found.toSorted((a: Issue, b: Issue) => a.detail.localeCompare(b.detail));
}

it('reports that the pages of iBabs have a guessed host until --portal is given', async () => {
  const meetings = [meetingOf(1, '2025-01-14'), meetingOf(2, '2025-04-10')];
  const entries = [entryOf(601, {}), entryOf(602, {})];
  ibabs.sites.set('voorbeeldstad', siteOf({ meetings, registers: [{ id: guid(8001), name: 'Moties', entries }] }));
  const added = await program.run('bron', 'add', IBABS, ...ORGANISATION);
  expect(added).toMatchObject({
    status: 0,
    stderr: expect.stringContaining(`not confirmed: pages are linked at ${GUESSED}`),
  });
  expect(await unconfirmed(IBABS)).toMatchObject([
    { where: 'GetListEntry', detail: ENTRY, window: null },
    { where: 'source', detail: expect.stringContaining(GUESSED), window: null },
  ]);
  const changed = await program.run('bron', 'add', IBABS, ...ORGANISATION, '--portal', 'https://raad.huizen.example');
  expect(changed).toMatchObject({ status: 0, stderr: expect.not.stringContaining('not confirmed') });
  expect(await unconfirmed(IBABS)).toMatchObject([{ where: 'GetListEntry', detail: ENTRY }]);
});

it('reports each form of Parlaeus once, for all its meetings and quarters', async () => {
  for (const [agid, date] of [
    ['a1', '20250114'],
    ['a2', '20250115'],
    ['a3', '20250410'],
  ] as const) {
    parlaeus.agendas.set(agid, agendaOf(agid, { date, points: [pointOf(`p-${agid}`)] }));
  }
  const adres = `parlaeus:${parlaeus.base}`;
  const added = await program.run('bron', 'add', adres, ...ORGANISATION, '--rid-file', join(folder, 'rid'));
  expect(added).toMatchObject({ status: 0 });
  expect(await unconfirmed(adres)).toMatchObject([
    { where: 'agenda_list', detail: 'last_change is string', window: null },
    { where: 'agenda_detail', detail: 'level is a whole number', window: null },
  ]);
});
