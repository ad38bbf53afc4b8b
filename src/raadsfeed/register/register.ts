/** The register: the addresses of other feeds, refreshed daily. */
import type { FastifyInstance } from 'fastify';
import type { Pool } from '../../database/pool.ts';
import { transaction } from '../../database/transaction.ts';
import { discover, FeedFault, readServiceDocument } from '../../lib/feed/service-document.ts';
import { createOutboundClient, type OutboundClient } from '../../lib/outbound/outbound-client.ts';
import { OutboundError } from '../../lib/outbound/outbound-error.ts';
import type { Clock } from '../../lib/time.ts';
import { repeatWork } from '../../plugins/repeated-work.ts';
import type { Config } from '../../settings/read-config.ts';
import { noteUnreachable, type RegisterEntry, removeFeed, saveFeed, takeDue } from '../store/register.ts';

const CHECK_MS = 5000;
const MAX_DOCUMENT_BYTES = 4 * 1024 * 1024;

export function createRegisterClient({ raadsfeed, server }: Pick<Config, 'raadsfeed' | 'server'>, clock: Clock) {
  return createOutboundClient({
    clock,
    maxBytes: MAX_DOCUMENT_BYTES,
    connections: 1,
    proxy: server,
    timeoutMs: Math.min(raadsfeed.sourcesTimeoutMs, 30_000),
    allowPrivate: raadsfeed.sourcesAllowPrivate,
  });
}

/** Refreshes each feed once a day; one that does not answer, every hour. */
export function keepRegister(app: FastifyInstance, pool: Pool): void {
  const client = createRegisterClient(app.settings, app.clock);
  app.addHook('onClose', () => client.close());
  repeatWork(app, {
    everyMs: CHECK_MS,
    failure: 'the register cannot be refreshed',
    async step() {
      const entry = await takeDue(pool);
      if (entry === undefined) return 'done';
      const fault = await refreshFeed(pool, client, entry, app.stopping);
      if (fault !== undefined)
        app.log.warn({ feed: entry.serviceUrl }, `a feed of the register does not answer: ${fault}`);
      return 'changed';
    },
  });
}

/** Refreshes the addresses of a feed; they stay when it does not answer. @returns why it does not */
export async function refreshFeed(
  pool: Pool,
  client: OutboundClient,
  { serviceUrl, opgegeven }: RegisterEntry,
  signal: AbortSignal,
): Promise<string | undefined> {
  try {
    const found = await discoverFeed(client, opgegeven, signal);
    await transaction(pool, async (db) => {
      if (found.serviceUrl !== serviceUrl) await removeFeed(db, serviceUrl);
      await saveFeed(db, opgegeven, found);
    });
    return undefined;
  } catch (error) {
    if (!(error instanceof OutboundError) && !(error instanceof FeedFault)) throw error;
    await noteUnreachable(pool, serviceUrl, error.message);
    return error.message;
  }
}

/** Finds a feed and adds it. @throws {OutboundError} {FeedFault} when there is no feed */
export async function addFeed(pool: Pool, client: OutboundClient, given: string, signal: AbortSignal): Promise<string> {
  const found = await discoverFeed(client, given, signal);
  await saveFeed(pool, given, found);
  return found.serviceUrl;
}

function discoverFeed(client: OutboundClient, given: string, signal: AbortSignal) {
  return discover((url) => client.getJson({ url, signal, redirects: 'any-host' }), given, readServiceDocument);
}
