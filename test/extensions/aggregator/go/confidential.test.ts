import { afterEach, expect, it } from 'vitest';
import { createGo } from '../../../../src/extensions/aggregator/go/api.ts';
import type { SupplierOptions } from '../../../../src/extensions/aggregator/source.ts';
import { createAdapter } from '../../../../src/extensions/aggregator/supplier/read-listed-window.ts';
import { MemoryFeed, QUARTER, type Round } from '../notubiz/supplier/memory-feed.ts';
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
    const request = { source: feed.source, window: QUARTER, signal: AbortSignal.timeout(5000) };
    expect((await feed.adapter.preview?.(request))?.names).toEqual(['Raad 12 · Gemeenteraad']);
  },
);

it.each(['item', 'meeting'] as const)('withholds documents that may hang on a confidential %s', async (what) => {
  await start('v2', { documentTypes: 'Raadsvragen' });
  supplier.documents.push(fullDocumentOf(1));
  add(meetingOf(11, { items: [itemOf(1), itemOf(2, { documents: [fullDocumentOf(3)] })] }));
  await feed.round();
  expect(feed.keys()).toContain('Informatieobject/go-document-1');
  const documents = [fullDocumentOf(1), fullDocumentOf(3)];
  const items = [itemOf(1, { confidential: 1, documents }), itemOf(2, { documents: [fullDocumentOf(3)] })];
  add(what === 'item' ? meetingOf(11, { items, documents }) : meetingOf(11, { confidential: 1, documents }));
  expect(deletesOf(await feed.round())).toContain('go-document-1 niet_langer_openbaar');
  expect(feed.keys().includes('Informatieobject/go-document-3')).toBe(what === 'item');
  expect((await feed.round()).deletes).toEqual([]);
});
