/** The supplier of the running test, and a feed that reads it; imports always see the current ones. */
import { afterEach, beforeEach } from 'vitest';
import { IbabsClient, type IbabsClientOptions } from '../../../../src/raadsfeed/aggregator/ibabs/calls.ts';
import { createIbabs } from '../../../../src/raadsfeed/aggregator/ibabs/supplier.ts';
import { createAdapter } from '../../../../src/raadsfeed/aggregator/supplier/read-listed-window.ts';
import type { AdapterSource } from '../../../../src/raadsfeed/aggregator/supplier/source-adapter.ts';
import { MemoryFeed, type Round } from '../notubiz/supplier/memory-feed.ts';
import { guid, type IbabsServer, type Site, siteOf, startIbabs } from './server.ts';

export const SOURCE: AdapterSource = {
  organisationId: 'voorbeeldstad',
  organisatiecode: 'gm0553',
  naam: 'Gemeente Lisse',
  portaal: 'https://lisse.bestuurlijkeinformatie.example',
};
export const QUARTER = { from: '2026-01-01', to: '2026-03-31' };
export const MEETING = `Vergadering/ibabs-meeting-${guid(1)}`;

export let supplier: IbabsServer;
export let site: Site;
export let feed: MemoryFeed;

/** Gives every test of a file a supplier with one site, and a feed of its own. */
export function freshIbabs(): void {
  beforeEach(async () => {
    supplier = await startIbabs();
    site = siteOf();
    supplier.sites.set('voorbeeldstad', site);
    feed = feedOf();
  });
  afterEach(async () => {
    await feed.adapter.close();
    await supplier.close();
  });
}

function feedOf(options: IbabsClientOptions = {}, source = SOURCE): MemoryFeed {
  const retry = { attempts: 3, firstDelay: 1, maxDelay: 2000 };
  const client = new IbabsClient({ base: supplier.base, allowPrivate: true, retry, pauseMs: 5, ...options });
  const opened = new MemoryFeed((clock) => createAdapter(createIbabs(client), clock), {}, source);
  opened.now = new Date('2026-02-01T12:00:00Z');
  return opened;
}

/** Makes the feed read another source of the same supplier. */
export async function readAs(source: AdapterSource): Promise<void> {
  await feed.adapter.close();
  feed = feedOf({}, source);
}

export const round = (more: Parameters<MemoryFeed['round']>[0] = {}): Promise<Round> =>
  feed.round({ window: QUARTER, ...more });

export const issuesOf = ({ reading }: Round): string[] =>
  reading.issues.map(({ what, detail }) => `${what}: ${detail}`);
