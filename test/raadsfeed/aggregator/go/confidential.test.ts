import { describe, expect, it } from 'vitest';
import { REGISTERS } from '../../../../src/raadsfeed/aggregator/supplier/windows.ts';
import { NEXT_QUARTER, QUARTER } from '../notubiz/supplier/memory-feed.ts';
import { add, closeGo, deletesOf, feed, start, supplier } from './fresh-go.ts';
import { fullDocumentOf, itemOf, meetingOf } from './server.ts';

closeGo();

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

it('names in a preview no meeting that cannot be requested by itself: only its list says that it is public', async () => {
  await start('v2');
  add(meetingOf(11, { description: 'Zaak Jansen' }), meetingOf(12));
  supplier.unfound.add(11);
  const request = { source: feed.source, window: QUARTER, signal: AbortSignal.timeout(60_000) };
  expect((await feed.adapter.preview?.(request))?.names).toEqual(['Raad 12 · Gemeenteraad']);
});

it.each(['item', 'meeting'] as const)(
  'withholds documents of a meeting that may belong to a confidential %s',
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
    'are not read from a source that omits meetings (%o)',
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
