/** The register: where other feeds are, refreshed daily. */

import type { Pool } from '../../database/pool.ts';
import { type Db, transaction } from '../../database/transaction.ts';
import { discover, FeedFault, readServiceDocument } from '../../lib/feed-client/client.ts';
import type { Logger } from '../../lib/log.ts';
import { createOutboundClient, type OutboundClient } from '../../lib/outbound/outbound-client.ts';
import { OutboundError } from '../../lib/outbound/outbound-error.ts';
import type { Clock } from '../../lib/time.ts';
import type { Config } from '../../settings/read-config.ts';
import {
  type DiscoveredFeed,
  findEntryOfFeed,
  listFeeds,
  noteUnreachable,
  type RegisterEntry,
  type RegisterFeed,
  removeFeed,
  saveFeed,
  takeDue,
} from '../store/register.ts';

/** What `GET /register` lists. */
export interface Register {
  /** The first `limit` feeds after an address of a service document, in the order of those addresses. */
  list(after: string, limit: number, organisatiecode: string | undefined): Promise<readonly RegisterFeed[]>;
}

/** A register that keeps itself up to date. */
interface RunningRegister extends Register {
  start(): void;
  close(): Promise<void>;
}

/** Milliseconds between checks for feeds that are due. */
const CHECK_MS = 5000;
/** Seconds after which another instance claims a feed whose claimant died. */
const LEASE_SECONDS = 300;
const MAX_DOCUMENT_BYTES = 4 * 1024 * 1024;

/** The client for feeds of the register: small answers only. */
interface RegisterNeeds {
  readonly config: Pick<Config, 'raadsfeed' | 'server'>;
  readonly pool: Pool;
  readonly clock: Clock;
  readonly log: Logger;
  readonly stopping: AbortSignal;
}

export function createRegisterClient({
  config: { raadsfeed, server },
  clock,
}: Pick<RegisterNeeds, 'config' | 'clock'>): OutboundClient {
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
export function createRegister(needs: RegisterNeeds): RunningRegister {
  const { pool, log, stopping } = needs;
  const client = createRegisterClient(needs);
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> | undefined;

  const refreshDue = async (): Promise<void> => {
    try {
      for (
        let entry = await takeDue(pool, LEASE_SECONDS);
        entry !== undefined;
        entry = await takeDue(pool, LEASE_SECONDS)
      ) {
        const refreshed = await refreshFeed(pool, client, entry, stopping);
        if (!refreshed.bereikbaar)
          log.warn({ feed: entry.serviceUrl }, `a feed of the register does not answer: ${refreshed.fout}`);
        if (stopping.aborted) return;
      }
    } catch (error) {
      if (!stopping.aborted) log.warn({ err: error }, 'the register cannot be refreshed');
    }
  };
  return {
    list: (after, limit, organisatiecode) => listFeeds(pool, after, limit, organisatiecode),
    start() {
      timer ??= setInterval(() => {
        running ??= refreshDue().finally(() => {
          running = undefined;
        });
      }, CHECK_MS);
      timer.unref();
    },
    async close() {
      clearInterval(timer);
      await running;
      await client.close();
    },
  };
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

/** Finds a feed and adds it. @throws {OutboundError} {FeedFault} when there is none */
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
