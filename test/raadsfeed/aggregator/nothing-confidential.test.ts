/**
 * Confidential items of a supplier, and those that belong only to them, are searched for in everything that a service stores, shows and
 * logs.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type StateFile, stateFile } from '../../proof/support.ts';
import { callProgram } from '../../support/program.ts';
import { type FeedServer, readRecords } from '../support.ts';
import {
  type GoServer,
  documentOf as goDocumentOf,
  itemOf as goItemOf,
  meetingOf as goMeetingOf,
  startGo,
} from './go/server.ts';
import { documentOf, entryOf, guid, type IbabsServer, itemOf, meetingOf, siteOf, startIbabs } from './ibabs/server.ts';
import * as notubizAnswers from './notubiz/supplier/answers.ts';
import { type NotubizServer, startNotubiz } from './notubiz/supplier/server.ts';
import {
  agendaOf,
  type ParlaeusServer,
  documentOf as parlaeusDocumentOf,
  pointOf,
  RID,
  startParlaeus,
} from './parlaeus/server.ts';
import { AGGREGATOR_ENV, eventually, startAggregator, stateOf } from './support.ts';

const SECRET = 'Gronddeal-Van-Dijk';
/** Numbers of confidential items begin with this: no call may name one. */
const UNFETCHED = 666_000;
const dayAt = (days: number): string => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10);
const [FROM, DAY, NEXT] = [dayAt(-60), dayAt(-20), dayAt(-19)];

let folder: string;
let state: StateFile;
let notubiz: NotubizServer;
let ibabs: IbabsServer;
let go: Readonly<Record<'v1' | 'v2', GoServer>>;
let parlaeus: ParlaeusServer;
let aggregator: FeedServer;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'koppelvlak-confidential-'));
  await writeFile(join(folder, 'rid'), RID);
  state = stateFile();
  [notubiz, ibabs, parlaeus] = await Promise.all([startNotubiz(), startIbabs(), startParlaeus()]);
  go = { v1: await startGo('v1'), v2: await startGo('v2') };
  aggregator = await startAggregator({ ...environment(), RAADSFEED_PAGES: 'true' });
});
afterAll(async () => {
  await aggregator.stop();
  for (const server of [notubiz, ibabs, go.v1, go.v2, parlaeus]) await server.close();
  state.remove();
  await rm(folder, { recursive: true, force: true });
});

function environment(): Record<string, string> {
  const suppliers = { 'aggregator.notubizUrl': notubiz.base, IBABS_URL: ibabs.base, IBABS_CALLS_PER_MINUTE: '60000' };
  return { AREAS: 'raadsfeed', ...state.env, ...suppliers };
}

async function koppelvlak(...words: string[]): Promise<string> {
  const env = { ...AGGREGATOR_ENV, NODE_ENV: 'test', DATABASE_URL: aggregator.databaseUrl, ...environment() };
  const { stdout, stderr } = await callProgram(words, env);
  return `${stdout}\n${stderr}`;
}

/** A supplier's data for an organisation: one public item beside everything that is not. */
interface Body {
  readonly code: string;
  readonly source: () => string;
  readonly options?: () => string[];
  readonly fill: () => void;
  /** The public items, by name. */
  readonly shown: readonly string[];
  /** The calls made, as text. */
  readonly calls: () => unknown;
  /** A call that fetches more of a confidential item than whether it is confidential. */
  readonly further: RegExp;
}

function fillNotubiz(): void {
  const { agendaItemOf, meetingOf: meeting, moduleItemReference, registerItemOf } = notubizAnswers;
  const notubizDocument = notubizAnswers.documentOf;
  const secret = { confidential: 1, title: SECRET };
  const module_items = [moduleItemReference(UNFETCHED)];
  const agenda_items = [
    agendaItemOf(1, { documents: [notubizDocument(1), notubizDocument(2, { ...secret, url: `x:${SECRET}` })] }),
    agendaItemOf(2, {
      ...secret,
      module_items,
      documents: [notubizDocument(3, { title: SECRET, date: SECRET, last_modified: SECRET })],
      agenda_items: [agendaItemOf(3, { title: SECRET, documents: [notubizDocument(4, { title: SECRET })] })],
    }),
    agendaItemOf(4, { title: SECRET, permission_group: 'members' }),
  ];
  const documents = [notubizDocument(5, { title: SECRET })];
  const start = `${NEXT} 19:30:00`;
  notubiz.organisation
    .addMeeting(meeting(1, { start: `${DAY} 19:30:00`, agenda_items }))
    .addMeeting(meeting(2, { ...secret, start, documents, module_items, url: SECRET }))
    .addMeeting(meeting(3, { title: SECRET, start, documents, permission_group: 'members', module_items }))
    .addAssembly(meeting(4, { ...secret, start, documents }), [meeting(UNFETCHED + 1, { title: SECRET, start })])
    .addRegisterItem(6, registerItemOf(7, { ...secret, date: DAY, main: documents }))
    .addRegisterItem(6, registerItemOf(UNFETCHED, { title: SECRET, date: SECRET, permission_group: 'members' }));
}

function fillIbabs(): void {
  const hidden = { DisplayName: SECRET, PublicDownloadURL: `x:${SECRET}` };
  const meeting = meetingOf(1, DAY, {
    Documents: [documentOf(101), documentOf(102, { Confidential: true, ...hidden })],
    ListItems: [{ Confidential: true, Documents: [documentOf(104, hidden)] }],
    MeetingItems: [
      itemOf(11, '1'),
      itemOf(12, '2', { Confidential: true, Title: SECRET, Explanation: SECRET }),
      itemOf(13, '2.1', { Title: SECRET, Documents: [documentOf(103, hidden)] }),
      itemOf(14, '3', { Confidential: SECRET, Title: SECRET }),
    ],
  });
  const entry = { ...entryOf(601, { Datum: DAY }), Documents: [documentOf(105, { Confidential: true, ...hidden })] };
  const registers = [{ id: guid(8001), name: 'Moties', entries: [entry] }];
  ibabs.sites.set('voorbeeldstad', siteOf({ meetings: [meeting], registers }));
}

function fillGo(server: GoServer): void {
  const hidden = { title: SECRET, filename: SECRET, fileName: SECRET, description: SECRET, publicationDate: SECRET };
  const filed = { documentTypeLabel: 'Raadsvragen', publicationDate: { date: `${dayAt(-40)} 10:00:00` } };
  const documents = [goDocumentOf(1), goDocumentOf(2, { ...hidden, confidential: 1 })];
  const below = [goDocumentOf(3, { ...hidden, ...filed, publicationDate: SECRET })];
  const items = [
    goItemOf(1, { documents }),
    goItemOf(UNFETCHED, { confidential: 1, title: SECRET, description: SECRET, documents: below }),
    goItemOf(UNFETCHED + 1, { confidential: SECRET, title: SECRET }),
  ];
  // A meeting's list in the second version does not tell on which item a document is.
  server.meetings.set(1, goMeetingOf(1, { date: DAY, items, documents: server === go.v2 ? below : [] }));
  const secret = { description: SECRET, location: SECRET, fullUrl: SECRET, documents: below };
  server.meetings.set(UNFETCHED + 2, goMeetingOf(UNFETCHED + 2, { date: NEXT, ...secret }));
  server.details.set(UNFETCHED + 2, { confidential: 1 });
  // Only the collection shows this one; the meeting that it belongs to is confidential.
  server.documents.push(goDocumentOf(4, { ...hidden, ...filed }), ...below);
}

function fillParlaeus(): void {
  const link = `https://x.parlaeus.nlhttps//x.parlaeus.nl/${SECRET}`;
  const documents = [parlaeusDocumentOf('d1'), parlaeusDocumentOf('d2', { confidential: 1, title: SECRET, link })];
  const below = { title: SECRET, text: SECRET, decision: SECRET, documents: [parlaeusDocumentOf('d3', { link })] };
  const points = [
    pointOf('p1', { documents }),
    pointOf('p2', { confidential: 1, ...below }),
    pointOf('p3', { level: 1, ...below }),
  ];
  parlaeus.agendas.set('a1', agendaOf('a1', { date: DAY.replaceAll('-', ''), points }));
  const secret = { confidential: 1, title: SECRET, endtime: SECRET, points };
  parlaeus.agendas.set('a2', agendaOf('a2', { date: NEXT.replaceAll('-', ''), ...secret }));
}

const GO_SHOWN = ['go-agendapunt-1', 'go-document-1', 'go-meeting-1'];
const BODIES: Readonly<Record<string, Body>> = {
  NotuBiz: {
    code: 'gm0363',
    source: () => 'notubiz:281',
    fill: fillNotubiz,
    shown: ['agendapunt-1', 'document-1', 'meeting-1'],
    calls: () => notubiz.calls,
    further: /items\/666|meetings\/666/,
  },
  iBabs: {
    code: 'gm0001',
    source: () => 'ibabs:voorbeeldstad',
    fill: fillIbabs,
    shown: [`ibabs-agendapunt-${guid(11)}`, `ibabs-document-${guid(101)}`, `ibabs-meeting-${guid(1)}`],
    calls: () => ibabs.calls,
    further: /Gronddeal/,
  },
  'GemeenteOplossingen v1': {
    code: 'gm0002',
    source: () => `go:${go.v1.address}`,
    fill: () => fillGo(go.v1),
    shown: GO_SHOWN,
    calls: () => go.v1.calls,
    further: /666\d*\//,
  },
  'GemeenteOplossingen v2': {
    code: 'gm0003',
    source: () => `go:${go.v2.address}`,
    options: () => ['--document-types', 'Raadsvragen'],
    fill: () => fillGo(go.v2),
    shown: GO_SHOWN,
    calls: () => go.v2.calls,
    further: /666\d*\/|v2\/documents/,
  },
  Parlaeus: {
    code: 'gm0004',
    source: () => `parlaeus:${parlaeus.base}`,
    options: () => ['--rid-file', join(folder, 'rid')],
    fill: fillParlaeus,
    shown: ['parlaeus-agendapunt-p1', 'parlaeus-document-d1', 'parlaeus-meeting-a1'],
    calls: () => parlaeus.calls,
    further: /Gronddeal/,
  },
};

it.each(Object.entries(BODIES))(
  'no confidential item at %s is in the feed, an issue, a log line, a page or a proof, nor fetched further',
  async (_name, { code, source, options, fill, shown, calls, further }) => {
    fill();
    const adres = source();
    const words = [adres, '--organisatie', code, '--naam', `Gemeente ${code}`, ...(options?.() ?? [])];
    // Documents of the collection are only read from a source without a first day.
    if (!words.includes('--document-types')) words.push('--from', FROM);
    const texts = [await koppelvlak('bron', 'add', ...words), await koppelvlak('bron', 'add', ...words, '--yes')];
    const feedOf = async (): Promise<string[]> =>
      [...stateOf(await readRecords(aggregator.api)).keys()]
        .filter((key) => key.startsWith(`${code}/`))
        .map((key) => key.split('/').at(-1) ?? '')
        .toSorted();
    // An unknown mark may make a window incomplete, so the source is not read to its end.
    await eventually(async () => expect(await feedOf()).toEqual(shown));
    for (const command of ['sync', 'check', 'issues']) texts.push(await koppelvlak('bron', command, adres));
    texts.push(await koppelvlak('bron', 'issues', adres, '--json'), await koppelvlak('bron', 'list'));
    expect(await feedOf()).toEqual(shown);
    texts.push(...(await pages(code, shown.at(-1) ?? '')), ...(await proofs()));
    texts.push(JSON.stringify(await readRecords(aggregator.api)), await stored());
    texts.push(JSON.stringify(aggregator.server.logged));
    const all = texts.join('\n');
    expect(all).toContain(shown[0]);
    for (const form of [SECRET, Buffer.from(SECRET).toString('hex'), Buffer.from(SECRET).toString('base64')]) {
      const at = all.indexOf(form);
      expect(at < 0 ? '' : all.slice(Math.max(0, at - 300), at + 60)).toBe('');
    }
    expect(JSON.stringify(calls())).not.toMatch(further);
  },
);

/** The pages of an organisation, its meetings and one of them. */
async function pages(code: string, meeting: string): Promise<string[]> {
  const pageOf = async (path: string): Promise<string> =>
    await (await fetch(`${aggregator.server.url}/raad${path}`)).text();
  const list = `/${code}/vergaderingen`;
  await eventually(async () => expect(await pageOf(list)).toContain(meeting));
  const [, path = ''] = new RegExp(`href="/raad(/${code}/[^"]*${meeting})"`).exec(await pageOf(list)) ?? [];
  const found = await Promise.all([`/${code}`, list, path, `/zoeken?q=gronddeal&organisatie=${code}`].map(pageOf));
  for (const page of found) expect(page).toContain('</html>');
  return found;
}

/** The proof of every record. */
async function proofs(): Promise<string[]> {
  const { rows } = await aggregator.pool.query<{ head: number }>('select head from raadsfeed.feed');
  const numbers = Array.from({ length: rows[0]?.head ?? 0 }, (_, i) => i + 1);
  const texts = new Map<number, string>();
  await eventually(async () => {
    for (const number of numbers.filter((one) => !texts.has(one))) {
      const answer = await fetch(`${aggregator.server.url}/proof/v1/raadsfeed/record/${number}`);
      expect(answer.status).toBe(200);
      texts.set(number, await answer.text());
    }
  });
  return [...texts.values()];
}

/** Every text in the aggregator's tables. */
async function stored(): Promise<string> {
  const { rows: tables } = await aggregator.pool.query<{ name: string }>(
    `select format('%I.%I', table_schema, table_name) as name from information_schema.tables
      where table_schema in ('aggregator', 'raadsfeed', 'pages', 'proof') and table_type = 'BASE TABLE'`,
  );
  expect(tables.length).toBeGreaterThan(10);
  const texts: string[] = [];
  for (const { name } of tables) {
    const { rows } = await aggregator.pool.query<{ row: string }>(`select t::text as row from ${name} t`);
    texts.push(...rows.map(({ row }) => row));
  }
  return texts.join('\n');
}
