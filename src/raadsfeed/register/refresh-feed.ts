import { FeedFault } from '../../feed-client/feed-fault.ts';
import { discover, readServiceDocument } from '../../feed-client/service-document.ts';
import type { Pool } from '../../kernel/database/pool.ts';
import { type Db, transaction } from '../../kernel/database/transaction.ts';
import { OutboundError } from '../../kernel/outbound/address-guard.ts';
import type { OutboundClient } from '../../kernel/outbound/outbound-client.ts';
import { findEntryOfFeed, noteUnreachable, type RegisterEntry, removeFeed, saveFeed } from './store/feeds.ts';

const DAY_SECONDS = 86_400;
/** Seconds after which one that did not answer is asked again. */
const RETRY_SECONDS = 3600;

export type Refreshed = { readonly serviceUrl: string } & (
  | { readonly bereikbaar: true }
  | { readonly bereikbaar: false; readonly fout: string }
);

/** Asks a feed of the register again where it is; it may have moved. Keeps what is known when it does not answer. */
export async function refreshFeed(
  pool: Pool,
  client: OutboundClient,
  entry: RegisterEntry,
  signal: AbortSignal,
): Promise<Refreshed> {
  const { serviceUrl, opgegeven } = entry;
  try {
    const found = await discoverFeed(client, opgegeven, signal);
    await transaction(pool, async (db) => {
      if (found.serviceUrl !== serviceUrl) {
        await assertOwnFeed(db, found, serviceUrl);
        await removeFeed(db, serviceUrl);
      }
      await saveFeed(db, opgegeven, found, DAY_SECONDS);
    });
    return { serviceUrl: found.serviceUrl, bereikbaar: true };
  } catch (error) {
    if (!(error instanceof OutboundError) && !(error instanceof FeedFault)) throw error;
    await noteUnreachable(pool, serviceUrl, error.message, RETRY_SECONDS);
    return { serviceUrl, bereikbaar: false, fout: error.message };
  }
}

/** Finds a feed and adds it. @throws {OutboundError} {FeedFault} when there is none */
export async function addFeed(pool: Pool, client: OutboundClient, given: string, signal: AbortSignal): Promise<string> {
  const found = await discoverFeed(client, given, signal);
  await assertOwnFeed(pool, found, found.serviceUrl);
  await saveFeed(pool, given, found, DAY_SECONDS);
  return found.serviceUrl;
}

/** A feed stands in the register once: two documents that name the same one cannot both be its own. */
async function assertOwnFeed(db: Db, { serviceUrl, document }: Discovered, known: string): Promise<void> {
  const other = await findEntryOfFeed(db, document.feedUrl, known);
  if (other !== undefined && other !== serviceUrl) {
    throw new FeedFault('feed-elsewhere', `its feed, ${document.feedUrl}, is in the register already, by ${other}`);
  }
}

/** Where a feed of the register is, and what it says of itself. */
export type Discovered = Awaited<ReturnType<typeof discoverFeed>>;

function discoverFeed(client: OutboundClient, given: string, signal: AbortSignal) {
  return discover((url) => client.getJson({ url, signal, redirects: 'any-host' }), given, readServiceDocument);
}
