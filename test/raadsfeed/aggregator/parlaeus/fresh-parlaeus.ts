/** The supplier of the running test, and a feed that reads it; imports always see the current ones. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach } from 'vitest';
import { createParlaeus } from '../../../../src/raadsfeed/aggregator/parlaeus/api.ts';
import { createAdapter } from '../../../../src/raadsfeed/aggregator/supplier/read-listed-window.ts';
import type { AdapterSource } from '../../../../src/raadsfeed/aggregator/supplier/source-adapter.ts';
import { MemoryFeed, type Round } from '../notubiz/supplier/memory-feed.ts';
import { type agendaOf, type ParlaeusServer, RID, startParlaeus } from './server.ts';

export let supplier: ParlaeusServer;
export let feed: MemoryFeed;
/** With the file of its key. */
export let folder: string;

/** Gives every test of a file its own supplier and feed. */
export function freshParlaeus(): void {
  beforeEach(async () => {
    supplier = await startParlaeus();
    folder = await mkdtemp(join(tmpdir(), 'parlaeus-'));
    await writeFile(join(folder, 'rid'), `${RID}\n`);
    const source: AdapterSource = {
      organisationId: supplier.base,
      organisatiecode: 'gm1901',
      naam: 'Gemeente Bodegraven-Reeuwijk',
      portaal: 'https://voorbeeld.parlaeus.nl/',
      options: { ridFile: join(folder, 'rid') },
    };
    const retry = { attempts: 2, firstDelay: 1, maxDelay: 50 };
    feed = new MemoryFeed(
      (clock) => createAdapter(createParlaeus({ clock, allowPrivate: true, retry }), clock),
      {},
      source,
    );
  });
  afterEach(async () => {
    await feed.adapter.close();
    await supplier.close();
    await rm(folder, { recursive: true });
  });
}

export function add(...agendas: ReturnType<typeof agendaOf>[]): void {
  for (const agenda of agendas) supplier.agendas.set(String(agenda.agid), agenda);
}

export const whats = ({ reading }: Round): string[] => reading.issues.map(({ what, where }) => `${what} ${where}`);
