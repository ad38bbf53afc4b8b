import { createAggregator } from '../aggregator/aggregator.ts';
import type { operations } from '../contracts/raadsfeed.ts';
import { createContract } from '../http/contract.ts';
import { type Area, mount } from '../http/mount.ts';
import { readOpenapi } from '../http/openapi-document.ts';
import { openToOrigins } from '../http/security-headers.ts';
import type { Platform } from '../kernel/platform.ts';
import { createHeadCache } from './feed/head.ts';
import { createPageCache } from './feed/page.ts';
import { createFeedReader } from './feed/reader.ts';
import { createResponseCache } from './feed/response-cache.ts';
import { createStreams } from './feed/stream.ts';
import { measureFeed } from './feed-metrics.ts';
import type { RaadsfeedParts } from './parts.ts';
import { raadsfeedProblems } from './problems.ts';
import { keepRegister } from './register/keep-register.ts';
import type { Register } from './register.ts';
import { collectionRoutes } from './routes/collections.ts';
import { feedRoute } from './routes/feed.ts';
import { registerRoute } from './routes/register.ts';
import { serviceRoute } from './routes/service.ts';
import { snapshotRoute } from './routes/snapshot.ts';
import { streamRoute } from './routes/stream.ts';
import { wellKnownRoutes } from './routes/well-known.ts';
import { rewriteParts } from './store/text-partitions.ts';

const CONTRACT = new URL('../../openapi/raadsfeed.yaml', import.meta.url);

/** Milliseconds between looks for files that what was redacted may still stand in. */
const REWRITE_MS = 300_000;

export interface RaadsfeedNeeds {
  /** What `/register` lists; absent when this service is no register. */
  readonly register?: Register | undefined;
}

/** Area C: the public council feed. */
export async function createRaadsfeed(platform: Platform, { register }: RaadsfeedNeeds = {}): Promise<Area> {
  const { pool, readPool, replicaPool, listener, log, stopping } = platform;
  const settings = platform.config.raadsfeed;
  const { prefix } = settings;
  const contract = createContract<operations>(readOpenapi(CONTRACT));
  const mountUrl = (): string => `${platform.publicBaseUrl()}${prefix}`;
  const heads = createHeadCache({ primary: readPool, listener, log });
  const reader = createFeedReader({ primary: readPool, replica: replicaPool, heads, log });
  // Half for pages of history, half for whole answers that still hold.
  const cacheBytes = (settings.cacheMb * 1024 * 1024) / 2;
  const pages = createPageCache(cacheBytes, heads);
  const responses = createResponseCache(cacheBytes, heads);
  const streams = createStreams({
    heads,
    reader,
    mountUrl,
    log,
    stopping,
    heartbeatSeconds: settings.streamHeartbeatSeconds,
    bufferBytes: settings.streamBufferBytes,
    drainTimeoutMs: settings.streamDrainSeconds * 1000,
  });
  const parts: RaadsfeedParts = { settings, heads, reader, pages, responses, mountUrl, log, stopping };
  measureFeed(platform.metrics, {
    head: () => heads.knownHead()?.head.sequenceNumber,
    streams: streams.count,
    cacheBytes: () => pages.bytes() + responses.bytes(),
  });
  const aggregator = settings.rol === 'aggregator' ? createAggregator(platform) : undefined;
  const kept = settings.register ? keepRegister(platform) : undefined;
  const routes: Parameters<typeof mount>[0]['routes'] = (app) => {
    openToOrigins(app);
    responses.register(app);
    serviceRoute(app, contract, parts);
    feedRoute(app, contract, parts);
    streamRoute(app, contract, parts, streams);
    snapshotRoute(app, contract, parts);
    collectionRoutes(app, contract, parts, 'Vergadering', { list: 'getVergaderingen', one: 'getVergadering' });
    collectionRoutes(app, contract, parts, 'Agendapunt', { list: 'getAgendapunten', one: 'getAgendapunt' });
    collectionRoutes(app, contract, parts, 'Informatieobject', {
      list: 'getInformatieobjecten',
      one: 'getInformatieobject',
    });
    registerRoute(app, contract, parts, register ?? kept);
  };
  let rewriting: NodeJS.Timeout | undefined;
  const finishRewrites = (): void => {
    rewriteParts(pool).catch((error: unknown) =>
      log.error({ err: error }, 'what was redacted may still stand in files of the database; it is tried again'),
    );
  };
  return {
    problems: raadsfeedProblems,
    checks: replicaPool === undefined ? [] : [{ name: 'read-replica', vital: false, check: reader.checkReplica }],
    start: async () => {
      // A redaction whose process died between its commit and the end of its work is finished here.
      finishRewrites();
      rewriting = setInterval(finishRewrites, REWRITE_MS).unref();
      aggregator?.start();
      kept?.start();
    },
    close: async () => {
      clearInterval(rewriting);
      await aggregator?.close();
      await kept?.close();
      streams.close();
      heads.close();
    },
    root: (app) => wellKnownRoutes(app, mountUrl),
    mounts: [mount({ platform, prefix, contract, rateLimit: settings.rateLimit, routes })],
  };
}
