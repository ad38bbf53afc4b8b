/** The cost of a full reading: the figures in `docs/aggregator.md` are those of this test. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { Clock } from '../../../src/lib/time.ts';
import { createGo } from '../../../src/raadsfeed/aggregator/go/api.ts';
import { IbabsClient } from '../../../src/raadsfeed/aggregator/ibabs/calls.ts';
import { createIbabs } from '../../../src/raadsfeed/aggregator/ibabs/supplier.ts';
import { createParlaeus } from '../../../src/raadsfeed/aggregator/parlaeus/api.ts';
import type { SupplierOptions } from '../../../src/raadsfeed/aggregator/source.ts';
import { createAdapter, type SourceAdapter } from '../../../src/raadsfeed/aggregator/supplier/read-listed-window.ts';
import { quarters } from '../../../src/raadsfeed/aggregator/supplier/windows.ts';
import { meetingOf as goMeetingOf, itemOf, startGo } from './go/server.ts';
import { itemOf as ibabsItemOf, meetingOf as ibabsMeetingOf, siteOf, startIbabs } from './ibabs/server.ts';
import { agendaItemOf, meetingOf } from './notubiz/supplier/answers.ts';
import { MemoryFeed, SOURCE } from './notubiz/supplier/memory-feed.ts';
import { startNotubiz } from './notubiz/supplier/server.ts';
import { agendaOf, pointOf, RID, startParlaeus } from './parlaeus/server.ts';

/** A body of ordinary size: a hundred meetings a year, each with ten items. */
const MEETINGS = Array.from({ length: 100 }, (_, i) => ({
  id: i + 1,
  day: new Date(Date.UTC(2025, 0, 1 + Math.floor(i * 3.6))).toISOString().slice(0, 10),
  items: Array.from({ length: 10 }, (_item, k) => 1000 + i * 10 + k),
}));
const PARTS = MEETINGS.length * 11;

async function readYear(
  supplier: { readonly base: string; readonly calls: readonly unknown[]; close(): Promise<void> },
  open: (clock: Clock) => SourceAdapter,
  options: SupplierOptions = {},
  base = supplier.base,
): Promise<number> {
  const feed = new MemoryFeed(open, {}, { ...SOURCE, organisationId: base, options });
  try {
    for (const window of quarters({ from: '2025-01-01', to: '2025-12-31' })) {
      const { reading } = await feed.round({ window });
      expect(reading.complete).toBe(true);
    }
    expect(feed.keys()).toHaveLength(PARTS);
    return supplier.calls.length;
  } finally {
    await feed.adapter.close();
    await supplier.close();
  }
}

it.each([
  ['v1', 104],
  ['v2', 1304],
] as const)('GemeenteOplossingen %s: a year takes %i calls', async (version, calls) => {
  const supplier = await startGo(version);
  for (const { id, day, items } of MEETINGS) {
    supplier.meetings.set(id, goMeetingOf(id, { date: day, items: items.map((item) => itemOf(item)) }));
  }
  supplier.perPage = 100;
  const open = (clock: Clock) => createAdapter(createGo({ clock, allowPrivate: true }), clock);
  expect(await readYear(supplier, open, { version }, supplier.address)).toBe(calls);
});

it('iBabs: a year takes 5 calls', async () => {
  const supplier = await startIbabs();
  const meetings = MEETINGS.map(({ id, day, items }) =>
    ibabsMeetingOf(id, day, { MeetingItems: items.map((item, i) => ibabsItemOf(item, `${i + 1}`)) }),
  );
  supplier.sites.set('voorbeeldstad', siteOf({ meetings }));
  const client = new IbabsClient({ base: supplier.base, allowPrivate: true });
  const open = (clock: Clock) => createAdapter(createIbabs(client), clock);
  expect(await readYear(supplier, open, {}, 'voorbeeldstad')).toBe(5);
});

it('Parlaeus: a year takes 105 calls', async () => {
  const supplier = await startParlaeus();
  for (const { id, day, items } of MEETINGS) {
    const points = items.map((item) => pointOf(`p${item}`));
    supplier.agendas.set(`a${id}`, agendaOf(`a${id}`, { date: day.replaceAll('-', ''), points }));
  }
  const folder = await mkdtemp(join(tmpdir(), 'parlaeus-'));
  const ridFile = join(folder, 'rid');
  await writeFile(ridFile, RID);
  const open = (clock: Clock) => createAdapter(createParlaeus({ clock, allowPrivate: true }), clock);
  expect(await readYear(supplier, open, { ridFile })).toBe(105);
  await rm(folder, { recursive: true });
});

it('NotuBiz: a year takes 118 calls', async () => {
  const supplier = await startNotubiz();
  for (const { id, day, items } of MEETINGS) {
    const agenda_items = items.map((item) => agendaItemOf(item));
    supplier.organisation.addMeeting(meetingOf(id, { start: `${day} 19:30:00`, agenda_items }));
  }
  const feed = new MemoryFeed(supplier);
  for (const window of quarters({ from: '2025-01-01', to: '2025-12-31' })) await feed.round({ window });
  expect(feed.keys()).toHaveLength(PARTS);
  expect(supplier.calls).toHaveLength(118);
  await feed.adapter.close();
  await supplier.close();
});
