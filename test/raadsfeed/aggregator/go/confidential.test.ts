import { afterEach, describe, expect, it } from 'vitest';
import { createGo } from '../../../../src/raadsfeed/aggregator/go/api.ts';
import type { SupplierOptions } from '../../../../src/raadsfeed/aggregator/source.ts';
import { createAdapter } from '../../../../src/raadsfeed/aggregator/supplier/read-listed-window.ts';
import { REGISTERS } from '../../../../src/raadsfeed/aggregator/supplier/windows.ts';
import { MemoryFeed, NEXT_QUARTER, QUARTER, type Round } from '../notubiz/supplier/memory-feed.ts';
import { fullDocumentOf, type GoServer, itemOf, meetingOf, type Raw, startGo } from './server.ts';

let supplier: GoServer;
let feed: MemoryFeed;
const retry = { attempts: 2, firstDelay: 1, maxDelay: 50 };

async function start(version: 'v1' | 'v2', options: SupplierOptions = {}): Promise<void> {
  supplier = await startGo(version);
  const source = {
    organisationId: supplier.address,
    organisatiecode: 'gm0406',
    naam: 'Gemeente Huizen',
    options: { version, ...options },
  };
  feed = new MemoryFeed((clock) => createAdapter(createGo({ clock, allowPrivate: true, retry }), clock), {}, source);
}

afterEach(async () => {
  await feed.adapter.close();
  await supplier.close();
});

function add(...meetings: Raw[]): void {
  for (const meeting of meetings) supplier.meetings.set(Number(meeting.id), meeting);
}

const deletesOf = ({ deletes }: Round): string[] =>
  deletes.map((line) => `${line.resource.bronidentificatie} ${line.verwijderreden}`);

it.each(['v1', 'v2'] as const)(
  '%s names in a preview only meetings that do not say themselves that they are confidential',
  async (version) => {
    await start(version);
    add(meetingOf(11, { description: 'Zaak Jansen' }), meetingOf(12));
    supplier.details.set(11, { confidential: 1 });
    const request = { source: feed.source, window: QUARTER, signal: AbortSignal.timeout(60_000) };
    expect((await feed.adapter.preview?.(request))?.names).toEqual(['Raad 12 · Gemeenteraad']);
  },
);

it('names in a preview no meeting that is not found by itself: only its list says that it is public', async () => {
  await start('v2');
  add(meetingOf(11, { description: 'Zaak Jansen' }), meetingOf(12));
  supplier.unfound.add(11);
  const request = { source: feed.source, window: QUARTER, signal: AbortSignal.timeout(60_000) };
  expect((await feed.adapter.preview?.(request))?.names).toEqual(['Raad 12 · Gemeenteraad']);
});

it.each(['item', 'meeting'] as const)(
  'withholds documents of a meeting that may hang on a confidential %s',
  async (what) => {
    await start('v2');
    const documents = [fullDocumentOf(1), fullDocumentOf(3)];
    const shown = itemOf(2, { documents: [fullDocumentOf(3)] });
    add(meetingOf(11, { items: [itemOf(1), shown], documents }));
    await feed.round();
    expect(feed.keys()).toContain('Informatieobject/go-document-1');
    const items = [itemOf(1, { confidential: 1, documents }), shown];
    add(what === 'item' ? meetingOf(11, { items, documents }) : meetingOf(11, { confidential: 1, documents }));
    expect(deletesOf(await feed.round())).toContain('go-document-1 niet_langer_openbaar');
    expect(feed.keys().includes('Informatieobject/go-document-3')).toBe(what === 'item');
    expect((await feed.round()).deletes).toEqual([]);
  },
);

describe('documents that belong to no meeting', () => {
  const options = { documentTypes: 'Raadsvragen' };
  const collection = () => supplier.count('/api/v2/documents');

  it('wait until every quarter was read', async () => {
    await start('v2', options);
    supplier.documents.push(fullDocumentOf(1));
    expect((await feed.round({ window: REGISTERS })).reading).toMatchObject({ complete: false, documents: [] });
    await feed.round();
    supplier.rule = ({ path }) => (path.endsWith('/meetings') ? { status: 500 } : undefined);
    await feed.round({ window: NEXT_QUARTER });
    await feed.round({ window: REGISTERS });
    expect([feed.keys(), collection()]).toEqual([[], 0]);
    supplier.rule = undefined;
    await feed.round({ window: NEXT_QUARTER });
    await feed.round({ window: REGISTERS });
    expect(feed.keys()).toEqual(['Informatieobject/go-document-1']);
    expect((await feed.round({ window: REGISTERS })).deletes).toEqual([]);
  });

  it.each(['meeting', 'item'] as const)(
    'are withdrawn and not read when a %s of any quarter is confidential',
    async (what) => {
      await start('v2', options);
      supplier.documents.push(fullDocumentOf(1));
      for (const window of [QUARTER, NEXT_QUARTER, REGISTERS]) await feed.round({ window });
      expect(feed.keys()).toEqual(['Informatieobject/go-document-1']);
      const marked = { confidential: 1, documents: [fullDocumentOf(1)] };
      add(meetingOf(11, { date: '2025-05-05', ...(what === 'meeting' ? marked : { items: [itemOf(1, marked)] }) }));
      await feed.round({ window: NEXT_QUARTER });
      const before = collection();
      const round = await feed.round({ window: REGISTERS });
      expect(deletesOf(round)).toEqual(['go-document-1 niet_langer_openbaar']);
      expect(round.reading.issues).toMatchObject([{ what: 'withheld', blocking: false }]);
      expect(collection()).toBe(before);
    },
  );

  it.each([{ bodies: 'raad' }, { notBodies: 'rekenkamer' }, { from: '2025-01-01' }, { to: '2025-12-31' }])(
    'are not read of a source that leaves out meetings (%o)',
    async (limit) => {
      const { from, to, ...filter } = { from: undefined, to: undefined, ...limit };
      await start('v2', { ...options, ...filter });
      const period = { ...(from === undefined ? {} : { from }), ...(to === undefined ? {} : { to }) };
      feed.source = { ...feed.source, period };
      supplier.documents.push(fullDocumentOf(1));
      add(meetingOf(11, { confidential: 1, dmu: { id: 5, name: 'Rekenkamer' }, documents: [fullDocumentOf(1)] }));
      for (const window of [QUARTER, REGISTERS]) await feed.round({ window });
      expect([feed.keys(), collection()]).toEqual([[], 0]);
    },
  );
});
