/** The register: where other feeds are, refreshed daily. */
import type { FastifyInstance } from 'fastify';
import type { Pool } from '../../database/pool.ts';
import { type Db, transaction } from '../../database/transaction.ts';
import { discover, FeedFault, readServiceDocument } from '../../lib/feed-client/client.ts';
import { createOutboundClient, type OutboundClient } from '../../lib/outbound/outbound-client.ts';
import { OutboundError } from '../../lib/outbound/outbound-error.ts';
import type { Clock } from '../../lib/time.ts';
import type { Config } from '../../settings/read-config.ts';
import { repeatWork } from '../feed/repeated-work.ts';
import {
  type DiscoveredFeed,
  findEntryOfFeed,
  noteUnreachable,
  type RegisterEntry,
  removeFeed,
  saveFeed,
  takeDue,
} from '../store/register.ts';

/** Milliseconds between checks for feeds that are due. */
const CHECK_MS = 5000;
/** Seconds after which another instance claims a feed whose claimant died. */
const LEASE_SECONDS = 300;
const MAX_DOCUMENT_BYTES = 4 * 1024 * 1024;

interface ClientNeeds {
  readonly config: Pick<Config, 'raadsfeed' | 'server'>;
  readonly clock: Clock;
}

/** The client for feeds of the register: small answers only. */
export function createRegisterClient({ config: { raadsfeed, server }, clock }: ClientNeeds): OutboundClient {
  return createOutboundClient({
    clock,
    timeoutMs: Math.min(raadsfeed.sourcesTimeoutMs, 30_000),
    maxBytes: MAX_DOCUMENT_BYTES,
    connections: 1,
    proxy: server,
    allowPrivate: raadsfeed.sourcesAllowPrivate,
  });
}

/** Asks each feed once a day where it is; one that does not answer, every hour. */
export function keepRegister(app: FastifyInstance, pool: Pool): void {
  const client = createRegisterClient({ config: app.settings, clock: app.clock });
  app.addHook('onClose', () => client.close());
  repeatWork(app, {
    everyMs: CHECK_MS,
    failure: 'the register cannot be refreshed',
    async step() {
      const entry = await takeDue(pool, LEASE_SECONDS);
      if (entry === undefined) return 'done';
      const refreshed = await refreshFeed(pool, client, entry, app.stopping);
      if (!refreshed.bereikbaar)
        app.log.warn({ feed: entry.serviceUrl }, `a feed of the register does not answer: ${refreshed.fout}`);
      return 'changed';
    },
  });
}

const DAY_SECONDS = 86_400;
/** Seconds before a feed that did not answer is asked again. */
const RETRY_SECONDS = 3600;

type Refreshed = { readonly serviceUrl: string } & (
  | { readonly bereikbaar: true }
  | { readonly bereikbaar: false; readonly fout: string }
);

/** Asks a feed of the register where it is now; it may have moved. What is known stays when it does not answer. */
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

/** Finds a feed and adds it. @throws {OutboundError} {FeedFault} when there is no feed */
export async function addFeed(pool: Pool, client: OutboundClient, given: string, signal: AbortSignal): Promise<string> {
  const found = await discoverFeed(client, given, signal);
  await assertOwnFeed(pool, found, found.serviceUrl);
  await saveFeed(pool, given, found, DAY_SECONDS);
  return found.serviceUrl;
}

/** A feed is in the register once: of two documents that name the same feed one is not its own. */
async function assertOwnFeed(db: Db, { serviceUrl, document }: DiscoveredFeed, known: string): Promise<void> {
  const other = await findEntryOfFeed(db, document.feedUrl, known);
  if (other !== undefined && other !== serviceUrl) {
    throw new FeedFault('feed-elsewhere', `its feed, ${document.feedUrl}, is in the register already, by ${other}`);
  }
}

function discoverFeed(client: OutboundClient, given: string, signal: AbortSignal): Promise<DiscoveredFeed> {
  return discover((url) => client.getJson({ url, signal, redirects: 'any-host' }), given, readServiceDocument);
}
