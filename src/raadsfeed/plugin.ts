import type { FastifyInstance } from 'fastify';
import fp from 'fastify-plugin';
import { Gauge, type Registry } from 'prom-client';
import type { operations } from '../contracts/raadsfeed.ts';
import { readOpenapi, readValidation } from '../lib/openapi-document.ts';
import { createContract } from '../plugins/contract.ts';
import { repeatWork } from '../plugins/repeated-work.ts';
import { mount, mountAddress } from '../plugins/requests.ts';
import { createResponseCache } from './feed/response-cache.ts';
import { createFeedStateCache } from './feed/state-cache.ts';
import { createStreams } from './feed/stream.ts';
import { raadsfeedProblems } from './problems.ts';
import { keepRegister } from './register/register.ts';
import { feedRoute } from './routes/feed.ts';
import { listRoutes } from './routes/lists.ts';
import { serviceRoute, wellKnownRoutes } from './routes/service.ts';
import { streamRoute } from './routes/stream.ts';
import { readFeedRow } from './store/records.ts';
import { rewriteContentTables, rewritePartitions } from './store/text-partitions.ts';

const CONTRACT = new URL('../../openapi/raadsfeed.yaml', import.meta.url);

/** Milliseconds between checks for files that may still hold redacted content, as after a process that died after its commit. */
const REWRITE_MS = 10_000;

/** Milliseconds until a follower of the feed retries, after a fault or while another process does the work. */
const FOLLOW_MS = 500;

/** The share of the memory for unread answers that streams have, beside whole answers. */
const STREAM_SHARE = 1 / 4;

export const raadsfeed = fp(serveRaadsfeed, {
  name: 'raadsfeed',
  dependencies: ['database', 'operations', 'metrics', 'routes'],
});

async function serveRaadsfeed(app: FastifyInstance): Promise<void> {
  const { settings: config, log, stopping } = app;
  const { pool, publicPool, listener } = app.database;
  const settings = config.raadsfeed;
  const { prefix } = settings;
  const contract = createContract<operations>(readOpenapi(CONTRACT), readValidation(CONTRACT));
  const mountUrl = mountAddress(app, prefix);
  const stateCache = createFeedStateCache({ db: publicPool, listener, log });
  const responses = createResponseCache(settings.cacheMb * 1024 * 1024, stateCache);
  const streams = createStreams({
    stateCache,
    mountUrl,
    log,
    stopping,
    heartbeatSeconds: settings.streamHeartbeatSeconds,
    memoryBytes: config.server.unreadAnswersBytes * STREAM_SHARE,
    drainTimeoutMs: settings.streamDrainSeconds * 1000,
  });
  app.decorate('feed', {
    stateCache,
    responses,
    mountUrl,
    completenessOf: async () => undefined,
    follow: (name, step) =>
      repeatWork(app, {
        step,
        everyMs: FOLLOW_MS,
        onWork: stateCache.onChange,
        failure: `${name} cannot follow the feed; it will be retried`,
      }),
  });
  // Called in reverse order; a failing one does not keep the others from closing.
  app.addHook('onClose', async () => stateCache.close());
  app.addHook('onClose', async () => streams.close());
  repeatWork(app, {
    everyMs: REWRITE_MS,
    failure: 'database files may still hold redacted content; the rewrite will be retried',
    async step() {
      await rewritePartitions(pool);
      await rewriteContentTables(pool);
      return 'done';
    },
  });
  if (settings.register) keepRegister(app, pool);
  app.problemKinds.push(...Object.values(raadsfeedProblems));
  const head = (): number => stateCache.known()?.head.sequenceNumber ?? 0;
  gauge(app.metrics, 'head', 'Highest sequence number that this process knows', head);
  gauge(app.metrics, 'streams', 'Streams that are open on this process', streams.count);
  gauge(app.metrics, 'cache_bytes', 'Memory that pages and answers take on this process', responses.bytes);
  app.operatorPage.push({
    title: 'Council feed',
    read: async () => {
      const { head, historieVanaf, lastStoredAt } = await readFeedRow(publicPool);
      const row = [head.sequenceNumber, lastStoredAt ?? 'never', historieVanaf];
      return { columns: ['head', 'last record', 'history since'], rows: [row] };
    },
  });
  wellKnownRoutes(app, mountUrl);
  const routes = (scope: FastifyInstance): void => {
    responses.answerFromMemory(scope);
    serviceRoute(scope, contract);
    feedRoute(scope, contract);
    streamRoute(scope, contract, streams);
    listRoutes(scope, contract, publicPool);
  };
  await mount(app, { prefix, contract, rateLimit: settings.rateLimit, isOpen: true, routes });
  // Loaded only when switched on: they are a large part of the memory of an idle process.
  if (settings.rol === 'aggregator') await app.register((await import('./aggregator/plugin.ts')).aggregator);
  if (config.diwoo.isOn) await app.register((await import('./diwoo/plugin.ts')).diwoo);
  if (config.pages.isOn) await app.register((await import('./pages/plugin.ts')).pages);
}

function gauge(metrics: Registry, name: string, help: string, value: () => number): void {
  new Gauge({
    name: `koppelvlak_raadsfeed_${name}`,
    help,
    registers: [metrics],
    collect() {
      this.set(value());
    },
  });
}
