/** A year of each supplier beside NotuBiz: read through failures, changed, withdrawn, read again. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createGo } from '../../../src/extensions/aggregator/go/api.ts';
import { IbabsClient } from '../../../src/extensions/aggregator/ibabs/calls.ts';
import { createIbabs } from '../../../src/extensions/aggregator/ibabs/supplier.ts';
import { createParlaeus } from '../../../src/extensions/aggregator/parlaeus/api.ts';
import { measureCoverage } from '../../../src/extensions/aggregator/supplier/coverage.ts';
import { createAdapter } from '../../../src/extensions/aggregator/supplier/read-listed-window.ts';
import { quarters, REGISTERS } from '../../../src/extensions/aggregator/supplier/windows.ts';
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
import type { Imitation } from './imitation.ts';
import { chanceOf } from './notubiz/supplier/generate.ts';
import { MemoryFeed, type Round, SOURCE } from './notubiz/supplier/memory-feed.ts';
import { agendaOf, documentOf, pointOf, RID, startParlaeus } from './parlaeus/server.ts';

const YEAR = quarters({ from: '2025-01-01', to: '2025-12-31' });
const BLOCKED = { status: 200, body: '<html>Toegang geweigerd</html>', headers: { 'content-type': 'text/html' } };
const FAILURES = ['half', 'reset', { status: 500, body: '' }, { status: 504, body: '' }, BLOCKED] as const;
const RETRY = { attempts: 2, firstDelay: 1, maxDelay: 20 };

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'suppliers-'));
  await writeFile(join(folder, 'rid'), RID);
});
afterAll(() => rm(folder, { recursive: true }));

/** A meeting as the test thinks of it, whatever the supplier. */
interface Known {
  readonly id: number;
  readonly day: string;
  readonly title: string;
  /** Confidential; of iBabs, which has no confidential meetings, one of another body. */
  readonly isSecret: boolean;
  /** Numbers of its items; a document of each has the same number, the last one is confidential. */
  readonly items: readonly number[];
}

interface Supplier {
  readonly prefix: string;
  /** How the supplier names a number. */
  readonly name: (n: number) => string;
  readonly hasRegisters: boolean;
  /** Fails at times, by a generator of chances; without one it behaves. */
  readonly misbehave: (chance?: () => number) => void;
  readonly close: () => Promise<void>;
  readonly put: (meeting: Known) => void;
  readonly remove: (id: number) => void;
  readonly open: () => MemoryFeed;
}

/** A failure of this call, by chance. */
function failureOf<F>(chance: () => number, failures: readonly F[]): F | undefined {
  return chance() < 0.15 ? failures[Math.floor(chance() * failures.length)] : undefined;
}

function openly(imitation: Imitation): Pick<Supplier, 'name' | 'hasRegisters' | 'misbehave' | 'close'> {
  return {
    name: String,
    hasRegisters: false,
    misbehave(chance) {
      imitation.rule = chance && (() => failureOf(chance, FAILURES));
    },
    close: () => imitation.close(),
  };
}

async function openGo(version: 'v1' | 'v2'): Promise<Supplier> {
  const imitation = await startGo(version);
  const source = { ...SOURCE, organisationId: imitation.address, options: { version } };
  return {
    ...openly(imitation),
    prefix: 'go',
    put({ id, day, title, isSecret, items }) {
      const agenda = items.map((item, i) => {
        const confidential = i === items.length - 1;
        return itemOf(item, { documents: [goDocumentOf(item, { confidential }), goDocumentOf(1)] });
      });
      imitation.meetings.set(id, goMeetingOf(id, { date: day, description: title, items: agenda }));
      imitation.details.set(id, { confidential: isSecret });
    },
    remove: (id) => void imitation.meetings.delete(id),
    open: () =>
      new MemoryFeed(
        (clock) => createAdapter(createGo({ clock, allowPrivate: true, retry: RETRY }), clock),
        {},
        source,
      ),
  };
}

async function openParlaeus(): Promise<Supplier> {
  const imitation = await startParlaeus();
  const source = { ...SOURCE, organisationId: imitation.base, options: { ridFile: join(folder, 'rid') } };
  let changes = 0;
  return {
    ...openly(imitation),
    prefix: 'parlaeus',
    put({ id, day, title, isSecret, items }) {
      const points = items.map((item, i) => {
        const confidential = i === items.length - 1;
        return pointOf(`${item}`, { documents: [documentOf(`${item}`, { confidential }), documentOf('1')] });
      });
      changes += 1;
      const more = { date: day.replaceAll('-', ''), title, confidential: isSecret, points, last_change: `${changes}` };
      imitation.agendas.set(`${id}`, agendaOf(`${id}`, more));
    },
    remove: (id) => void imitation.agendas.delete(`${id}`),
    open: () =>
      new MemoryFeed(
        (clock) => createAdapter(createParlaeus({ clock, allowPrivate: true, retry: RETRY }), clock),
        {},
        source,
      ),
  };
}

/** One site of two bodies, with a register that names the first item of each meeting. */
async function openIbabs(): Promise<Supplier> {
  const server = await startIbabs();
  const meetings = new Map<number, ReturnType<typeof ibabsMeetingOf>>();
  const entries = new Map<number, ReturnType<typeof entryOf>>();
  const show = (): void => {
    const registers = [{ id: guid(8001), name: 'Moties', entries: [...entries.values()] }];
    server.sites.set('voorbeeldstad', siteOf({ meetings: [...meetings.values()], registers }));
  };
  const source = { ...SOURCE, organisationId: 'voorbeeldstad', options: { notBodies: 'Hillegom' } };
  return {
    prefix: 'ibabs',
    name: guid,
    hasRegisters: true,
    put({ id, day, title, isSecret, items }) {
      const MeetingItems = items.map((item, i) => {
        const Confidential = i === items.length - 1;
        const Documents = [ibabsDocumentOf(item, { Confidential }), ibabsDocumentOf(1)];
        return ibabsItemOf(item, i === 0 ? '1' : `1.${i}`, { Documents });
      });
      const MeetingtypeId = guid(isSecret ? 9002 : 9001);
      meetings.set(id, ibabsMeetingOf(id, day, { Explanation: title, MeetingtypeId, MeetingItems }));
      const [year, month, date] = day.split('-').map(Number);
      const values = { Onderwerp: title, Agendapunt: `Gemeenteraad ${date}-${month}-${year}\\n1 Punt` };
      if (isSecret) entries.delete(id);
      else entries.set(id, entryOf(50_000 + id, values));
      show();
    },
    remove(id) {
      meetings.delete(id);
      entries.delete(id);
      show();
    },
    open: () => {
      const client = new IbabsClient({ base: server.base, allowPrivate: true, retry: RETRY, pauseMs: 5 });
      return new MemoryFeed((clock) => createAdapter(createIbabs(client), clock), {}, source);
    },
    misbehave(chance) {
      const failures = [...FAILURES, { err: 'Execution Timeout Expired.' }];
      server.rule = chance && (() => failureOf(chance, failures));
    },
    close: () => server.close(),
  };
}

/** What may be published, straight from the rules. */
function expectedKeys({ prefix, name, hasRegisters }: Supplier, meetings: Iterable<Known>): string[] {
  const keys = [...meetings]
    .filter(({ isSecret }) => !isSecret)
    .flatMap(({ id, items }) => [
      `Vergadering/${prefix}-meeting-${name(id)}`,
      ...items.map((item) => `Agendapunt/${prefix}-agendapunt-${name(item)}`),
      ...items.slice(0, -1).map((item) => `Informatieobject/${prefix}-document-${name(item)}`),
      `Informatieobject/${prefix}-document-${name(1)}`,
      ...(hasRegisters ? [`Informatieobject/${prefix}-registerstuk-${name(50_000 + id)}`] : []),
    ]);
  return [...new Set(keys)].toSorted();
}

async function readYear(feed: MemoryFeed, depth: 'full' | 'quick' = 'full'): Promise<Round[]> {
  const rounds: Round[] = [];
  const windows = feed.adapter.hasRegisters === true ? [...YEAR, REGISTERS] : YEAR;
  for (const window of windows) rounds.push(await feed.round({ window, depth }));
  return rounds;
}

it.each([
  ['GemeenteOplossingen v1', () => openGo('v1')],
  ['GemeenteOplossingen v2', () => openGo('v2')],
  ['Parlaeus', openParlaeus],
  ['iBabs', openIbabs],
] as const)('%s: a year converges to what is public, and reads again to the same', async (_name, start) => {
  const supplier = await start();
  const chance = chanceOf(7);
  const meetings = new Map<number, Known>();
  const put = (meeting: Known): void => {
    meetings.set(meeting.id, meeting);
    supplier.put(meeting);
  };
  for (let id = 10; id < 34; id += 1) {
    const day = new Date(Date.UTC(2025, 0, 1 + Math.floor(chance() * 365))).toISOString().slice(0, 10);
    put({ id, day, title: `Raad ${id}`, isSecret: chance() < 0.1, items: [id * 100, id * 100 + 1, id * 100 + 2] });
  }
  const [feed, fresh] = [supplier.open(), supplier.open()];
  try {
    supplier.misbehave(chanceOf(1));
    await readYear(feed);
    const allowed = new Set(expectedKeys(supplier, meetings.values()));
    for (const key of feed.keys()) expect(allowed).toContain(key);

    supplier.misbehave();
    const rounds = await readYear(feed);
    expect(feed.keys()).toEqual(expectedKeys(supplier, meetings.values()));
    for (const { reading } of rounds) {
      expect(reading.complete).toBe(true);
      expect(measureCoverage(reading, [], (key) => feed.resources.has(key)).percentage).toBe(100);
    }

    for (const meeting of [...meetings.values()]) {
      const luck = chance();
      if (luck < 0.2) {
        meetings.delete(meeting.id);
        supplier.remove(meeting.id);
      } else if (luck < 0.4) put({ ...meeting, title: `${meeting.title} (gewijzigd)`, items: meeting.items.slice(1) });
      else if (luck < 0.5) put({ ...meeting, isSecret: true });
      else if (luck < 0.6) put({ ...meeting, day: '2025-08-08' });
    }
    const before = new Set(feed.keys());
    supplier.misbehave(chanceOf(2));
    for (const { reading, deletes } of await readYear(feed)) if (!reading.complete) expect(deletes).toEqual([]);
    for (const key of expectedKeys(supplier, meetings.values()))
      if (before.has(key)) expect(feed.keys()).toContain(key);

    supplier.misbehave();
    await readYear(feed);
    await readYear(feed);
    expect(feed.keys()).toEqual(expectedKeys(supplier, meetings.values()));
    const { prefix, name, hasRegisters } = supplier;
    const shown = hasRegisters ? [...meetings.values()].filter(({ isSecret }) => !isSecret) : [];
    for (const { id, day, items } of shown) {
      // Of two meetings of a body on one day an entry does not say which.
      const isClear = shown.filter((other) => other.day === day).length === 1;
      const item = `${prefix}-agendapunt-${name(items[0] ?? 0)}`;
      const agendapunten = isClear ? [{ bronidentificatie: item }] : [];
      expect(feed.get(`Informatieobject/${prefix}-registerstuk-${name(50_000 + id)}`)).toMatchObject({ agendapunten });
    }
    const settled = new Map(feed.resources);
    for (const depth of ['quick', 'full'] as const) {
      expect((await readYear(feed, depth)).flatMap(({ deletes }) => deletes)).toEqual([]);
    }
    expect(feed.resources).toEqual(settled);
    // Whoever begins today has the same.
    await readYear(fresh);
    expect(fresh.resources).toEqual(settled);
  } finally {
    await Promise.all([feed, fresh].map(({ adapter }) => adapter.close()));
    await supplier.close();
  }
});
