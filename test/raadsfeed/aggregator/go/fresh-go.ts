/** The supplier of the running test, and a feed that reads it; an import always sees the current ones. */
import { afterEach } from 'vitest';
import { createGo } from '../../../../src/raadsfeed/aggregator/go/api.ts';
import type { SupplierOptions } from '../../../../src/raadsfeed/aggregator/source.ts';
import { createAdapter } from '../../../../src/raadsfeed/aggregator/supplier/read-listed-window.ts';
import { MemoryFeed, type Round } from '../notubiz/supplier/memory-feed.ts';
import { type GoServer, type Raw, startGo } from './server.ts';

export let supplier: GoServer;
export let feed: MemoryFeed;
export const retry = { attempts: 2, firstDelay: 1, maxDelay: 50 };

/** Closes what each test of a file started. */
export function closeGo(): void {
  afterEach(async () => {
    await feed.adapter.close();
    await supplier.close();
  });
}

export async function start(version: 'v1' | 'v2', options: SupplierOptions = {}): Promise<void> {
  supplier = await startGo(version);
  const source = {
    organisationId: supplier.address,
    organisatiecode: 'gm0406',
    naam: 'Gemeente Huizen',
    options: { version, ...options },
  };
  feed = new MemoryFeed((clock) => createAdapter(createGo({ clock, allowPrivate: true, retry }), clock), {}, source);
}

export function add(...meetings: Raw[]): void {
  for (const meeting of meetings) supplier.meetings.set(Number(meeting.id), meeting);
}

export const whats = ({ reading }: Round): string[] => reading.issues.map(({ what, where }) => `${what} ${where}`);
export const deletesOf = ({ deletes }: Round): string[] =>
  deletes.map((line) => `${line.resource.bronidentificatie} ${line.verwijderreden}`);
