/** Four bodies in one aggregator, one of each supplier; one changed supplier in 2024. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { NewSource } from '../../../src/raadsfeed/aggregator/plan-sources.ts';
import { saveSources } from '../../../src/raadsfeed/aggregator/store/sources.ts';
import { type StateFile, stateFile } from '../../proof/support.ts';
import { type FeedServer, readRecords } from '../support.ts';
import { type GoServer, documentOf as goDocumentOf, meetingOf as goMeetingOf, startGo } from './go/server.ts';
import { documentOf, guid, type IbabsServer, meetingOf, siteOf, startIbabs } from './ibabs/server.ts';
import { meetingOf as notubizMeetingOf } from './notubiz/supplier/answers.ts';
import { type NotubizServer, startNotubiz } from './notubiz/supplier/server.ts';
import { agendaOf, type ParlaeusServer, RID, startParlaeus } from './parlaeus/server.ts';
import { eventually, programBeside, sourceState, startAggregator, stateOf } from './support.ts';

const DAYS = ['2024-02-14', '2024-02-15', '2024-02-16'] as const;

let folder: string;
let state: StateFile;
let notubiz: NotubizServer;
let ibabs: IbabsServer;
let former: GoServer;
let go: GoServer;
let parlaeus: ParlaeusServer;
let aggregator: FeedServer;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'koppelvlak-four-'));
  await writeFile(join(folder, 'rid'), RID);
  state = stateFile();
  notubiz = await startNotubiz();
  ibabs = await startIbabs();
  former = await startGo('v1');
  go = await startGo('v2');
  parlaeus = await startParlaeus();
  aggregator = await startAggregator({ ...environment(), RAADSFEED_PAGES: 'true' });
});
afterEach(async () => {
  await aggregator.stop();
  for (const server of [notubiz, ibabs, former, go, parlaeus]) await server.close();
  state.remove();
  await rm(folder, { recursive: true, force: true });
});

function environment(): Record<string, string> {
  return {
    AREAS: 'raadsfeed',
    ...state.env,
    'aggregator.notubizUrl': notubiz.base,
    IBABS_URL: ibabs.base,
    IBABS_CALLS_PER_MINUTE: '60000',
  };
}

const koppelvlak = (...words: string[]) => programBeside(aggregator.databaseUrl, environment(), words);

function sourceOf(adres: string, code: string, more: Partial<NewSource> = {}): NewSource {
  return {
    adres,
    soort: 'leveranciers-api',
    organisatiecodes: [code],
    naam: `Gemeente ${code}`,
    vanaf: '2024-01-01',
    ...more,
  };
}

async function addAndRead(source: NewSource): Promise<void> {
  await saveSources(aggregator.pool, [source]);
  await eventually(async () => expect((await sourceState(aggregator.pool, source.adres)).bijgewerkt).not.toBeNull());
}

/** The feed's contents for an organisation, by name. */
async function feedOf(code: string): Promise<string[]> {
  const keys = [...stateOf(await readRecords(aggregator.api)).keys()];
  return keys
    .filter((key) => key.startsWith(`${code}/`))
    .map((key) => key.split('/').at(-1) ?? '')
    .toSorted();
}

async function pageOf(path: string): Promise<string> {
  const answer = await fetch(`${aggregator.server.url}/raad${path}`);
  return answer.status === 200 ? await answer.text() : `status ${answer.status}`;
}

it('reads a body of each supplier, before, at and after one of them changes supplier', async () => {
  notubiz.organisation.addMeeting(
    notubizMeetingOf(11, { plannings: [{ start_date: '2024-02-14 19:30:00', end_date: null }] }),
  );
  for (const [i, date] of DAYS.entries())
    former.meetings.set(i + 1, goMeetingOf(i + 1, { date, documents: [goDocumentOf(i + 1)] }));
  const meetings = DAYS.map((day, i) => meetingOf(i, day, { Documents: [documentOf(100 + i)] }));
  ibabs.sites.set('voorbeeldstad', siteOf({ meetings }));
  go.meetings.set(7, goMeetingOf(7, { date: '2024-02-14' }));
  parlaeus.agendas.set('a1', agendaOf('a1', { date: '20240214' }));
  const old = sourceOf(`go:${former.address}`, 'gm0363', { options: { version: 'v1' } });
  const next = sourceOf('ibabs:voorbeeldstad', 'gm0363', { vanaf: '2024-02-15' });
  const others = [
    sourceOf('notubiz:281', 'gm0001'),
    sourceOf(`go:${go.address}`, 'gm0002', { options: { version: 'v2' } }),
    sourceOf(`parlaeus:${parlaeus.base}`, 'gm0003', { options: { ridFile: join(folder, 'rid') } }),
  ];
  for (const source of [old, ...others]) await addAndRead(source);
  const steady = async (): Promise<void> => {
    expect(await feedOf('gm0001')).toEqual(['meeting-11']);
    expect(await feedOf('gm0002')).toEqual(['go-meeting-7']);
    expect(await feedOf('gm0003')).toEqual(['parlaeus-meeting-a1']);
  };
  const percentageOf = async ({ adres }: NewSource): Promise<unknown> => {
    const { json } = await koppelvlak('bron', 'check', adres);
    return [json.percentage, json.shown, json.held];
  };
  const originOf = async (): Promise<unknown> => {
    const { rows } = await aggregator.pool.query(
      `select b.address as adres, r.herkomst_soort as herkomst, r.laatst_bijgewerkt is not null as dated from aggregator.source_organisations o
         join aggregator.sources b on b.id = o.source_id join raadsfeed.organisaties r using (organisatiecode)
        where organisatiecode = 'gm0363'`,
    );
    return rows;
  };

  // Before: the former supplier has all days.
  const before = [1, 2, 3].flatMap((i) => [`go-document-${i}`, `go-meeting-${i}`]).toSorted();
  expect(await feedOf('gm0363')).toEqual(before);
  await steady();
  expect(await percentageOf(old)).toEqual([100, 6, 6]);
  expect(await originOf()).toEqual([{ adres: old.adres, herkomst: 'leveranciers-api', dated: true }]);
  await eventually(async () => expect(await pageOf('/gm0363/vergaderingen')).toContain('go-meeting-3'));
  expect(await pageOf('/gm0363')).toContain('GemeenteOplossingen vanaf 1 januari 2024<');
  expect(await pageOf('/gm0001')).toContain('NotuBiz vanaf 1 januari 2024<');

  // At: the former supplier's days end, and its later publications wait for an operator.
  await saveSources(aggregator.pool, [{ ...old, tot: '2024-02-14' }]);
  await addAndRead(next);
  const added = [1, 2].flatMap((i) => [`ibabs-document-${guid(100 + i)}`, `ibabs-meeting-${guid(i)}`]);
  expect(await feedOf('gm0363')).toEqual([...before, ...added].toSorted());
  expect(await percentageOf(next)).toEqual([100, 4, 4]);
  expect(await originOf()).toEqual([{ adres: next.adres, herkomst: 'leveranciers-api', dated: true }]);
  await steady();

  // After: each day belongs to that day's supplier, even when old years are read again.
  expect(await koppelvlak('bron', 'sync', old.adres, '--allow-mass-delete')).toMatchObject({
    json: { complete: true },
  });
  const after = ['go-document-1', 'go-meeting-1', ...added].toSorted();
  expect(await feedOf('gm0363')).toEqual(after);
  const settled = await readRecords(aggregator.api);
  for (const { adres } of [old, next, ...others]) {
    expect(await koppelvlak('bron', 'sync', adres)).toMatchObject({
      status: 0,
      json: { complete: true, published: 0, deleted: 0 },
    });
  }
  expect(await readRecords(aggregator.api)).toEqual(settled);
  for (const [source, shown] of [[old, 2], [next, 4], ...others.map((one) => [one, 1] as const)] as const) {
    expect(await percentageOf(source)).toEqual([100, shown, shown]);
  }
  expect(await originOf()).toEqual([{ adres: next.adres, herkomst: 'leveranciers-api', dated: true }]);
  await steady();
  await eventually(async () => {
    const page = await pageOf('/gm0363/vergaderingen');
    expect(page).toContain(`ibabs-meeting-${guid(1)}`);
    expect(page).toContain('go-meeting-1');
    expect(page).not.toMatch(/go-meeting-[23]/);
    expect(await pageOf('/gm0363')).toContain(
      'iBabs vanaf 15 februari 2024; GemeenteOplossingen vanaf 1 januari 2024 tot en met 14 februari 2024<',
    );
  });
});
