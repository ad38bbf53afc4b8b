/** A year of each supplier other than NotuBiz: read through failures, changed, withdrawn, read again. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Clock } from '../../../src/lib/time.ts';
import { createGo } from '../../../src/raadsfeed/aggregator/go/api.ts';
import { IbabsClient } from '../../../src/raadsfeed/aggregator/ibabs/calls.ts';
import { createIbabs } from '../../../src/raadsfeed/aggregator/ibabs/supplier.ts';
import { createParlaeus } from '../../../src/raadsfeed/aggregator/parlaeus/api.ts';
import { measureCoverage } from '../../../src/raadsfeed/aggregator/supplier/coverage.ts';
import { createAdapter, type SourceAdapter } from '../../../src/raadsfeed/aggregator/supplier/read-listed-window.ts';
import { quarters, REGISTERS } from '../../../src/raadsfeed/aggregator/supplier/windows.ts';
import { startIbabs } from './ibabs/server.ts';
import {
  entryNumber,
  expectedKeys,
  type ImitatedBody,
  ibabsBody,
  idOf,
  type KnownMeeting,
  startGoBody,
  startParlaeusBody,
} from './imitated-body.ts';
import { chanceOf } from './notubiz/supplier/generate.ts';
import { MemoryFeed, type Round, SOURCE } from './notubiz/supplier/memory-feed.ts';
import { RID } from './parlaeus/server.ts';

const YEAR = quarters({ from: '2025-01-01', to: '2025-12-31' });
const RETRY = { attempts: 2, firstDelay: 1, maxDelay: 20 };

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'suppliers-'));
  await writeFile(join(folder, 'rid'), RID);
});
afterAll(() => rm(folder, { recursive: true }));

function openAdapter(supplier: ImitatedBody, clock: Clock): SourceAdapter {
  const options = { clock, allowPrivate: true, retry: RETRY };
  if (supplier.scheme === 'go') return createAdapter(createGo(options), clock);
  if (supplier.scheme === 'parlaeus') return createAdapter(createParlaeus(options), clock);
  return createAdapter(createIbabs(new IbabsClient({ ...options, base: supplier.host.base, pauseMs: 5 })), clock);
}

async function readYear(feed: MemoryFeed, depth: 'full' | 'quick' = 'full'): Promise<Round[]> {
  const rounds: Round[] = [];
  const windows = feed.adapter.hasRegisters === true ? [...YEAR, REGISTERS] : YEAR;
  for (const window of windows) rounds.push(await feed.round({ window, depth }));
  return rounds;
}

it.each([
  ['GemeenteOplossingen v1', () => startGoBody('v1')],
  ['GemeenteOplossingen v2', () => startGoBody('v2')],
  ['Parlaeus', () => startParlaeusBody(join(folder, 'rid'))],
  ['iBabs', async () => ibabsBody(await startIbabs(), 'voorbeeldstad', true)],
] as const)('%s: a year converges to the public items, and a second reading gives the same', async (_name, start) => {
  const supplier = await start();
  const chance = chanceOf(7);
  const meetings = new Map<number, KnownMeeting>();
  const put = (meeting: KnownMeeting): void => {
    meetings.set(meeting.id, meeting);
    supplier.put(meeting);
  };
  const { organisationId, options, hasRegisters } = supplier;
  const open = (): MemoryFeed =>
    new MemoryFeed((clock) => openAdapter(supplier, clock), {}, { ...SOURCE, organisationId, options });
  for (let id = 10; id < 34; id += 1) {
    const day = new Date(Date.UTC(2025, 0, 1 + Math.floor(chance() * 365))).toISOString().slice(0, 10);
    put({ id, day, title: `Raad ${id}`, isSecret: chance() < 0.1, items: [id * 100, id * 100 + 1, id * 100 + 2] });
  }
  const [feed, fresh] = [open(), open()];
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
    const shown = hasRegisters ? [...meetings.values()].filter(({ isSecret }) => !isSecret) : [];
    for (const { id, day, items } of shown) {
      // An entry does not say which of a body's two meetings on one day it belongs to.
      const isClear = shown.filter((other) => other.day === day).length === 1;
      const first = { bronidentificatie: idOf(supplier, 'agendapunt', items[0] ?? 0) };
      const entry = feed.get(`Informatieobject/${idOf(supplier, 'registerstuk', entryNumber(id))}`);
      expect(entry).toMatchObject({ agendapunten: isClear ? [first] : [] });
    }
    const settled = new Map(feed.resources);
    for (const depth of ['quick', 'full'] as const) {
      expect((await readYear(feed, depth)).flatMap(({ deletes }) => deletes)).toEqual([]);
    }
    expect(feed.resources).toEqual(settled);
    // A new reader gets the same.
    await readYear(fresh);
    expect(fresh.resources).toEqual(settled);
  } finally {
    await Promise.all([feed, fresh].map(({ adapter }) => adapter.close()));
    await supplier.host.close();
  }
});
