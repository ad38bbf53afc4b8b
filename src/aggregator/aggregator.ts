import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { limitYoungGeneration } from '../kernel/limit-young-generation.ts';
import { createOutboundClient } from '../kernel/outbound/outbound-client.ts';
import type { Platform } from '../kernel/platform.ts';
import { rewriteParts } from '../raadsfeed/store/text-partitions.ts';
import { createLineValidator } from '../raadsfeed/writer/line-validator.ts';
import { followSource } from './feed/follow-source.ts';
import { createAggregatorMetrics } from './metrics.ts';
import { openNotubiz } from './notubiz/adapter.ts';
import { createCallTurns } from './store/call-slots.ts';
import { readSupplier, type SupplierNeeds } from './supplier/read-supplier.ts';
import { createScheduler, type RunTurnNeeds, runTurn } from './worker.ts';

/** What follows the sources, as long as the service runs. */
export interface Aggregator {
  start(): void;
  close(): Promise<void>;
}

/** Pages of one turn: then others get theirs. */
const PAGES_PER_TURN = 10;
/** Windows of suppliers that are read at the same time; the adapter limits the calls. */
const SUPPLIERS_AT_ONCE = 4;
/** Milliseconds between looks for files that redacted content still stands in. */
const CLEAN_MS = 10_000;

/** What following takes, made from the configuration; `close` ends its connections. */
export function openAggregatorNeeds(platform: Platform): SupplierNeeds {
  const { config, pool, clock, log, publicBaseUrl } = platform;
  const { raadsfeed } = config;
  return {
    pool,
    clock,
    log,
    client: createOutboundClient({
      clock,
      timeoutMs: raadsfeed.aggregatorTimeoutMs,
      maxBytes: raadsfeed.aggregatorMaxAnswerBytes,
      connections: 4,
      proxy: config.server,
      allowPrivate: raadsfeed.aggregatorAllowPrivate,
    }),
    validate: createLineValidator(),
    validateDraft: createLineValidator('draft'),
    ownFeedUrl: () => `${publicBaseUrl()}${raadsfeed.prefix}/feed`,
    ids: raadsfeed.aggregatorIds,
    adapters: [openNotubiz(config, clock, createCallTurns(pool, 'notubiz', log))],
    quickAgainMs: raadsfeed.notubizQuickMinutes * 60_000,
    fullAgainMs: raadsfeed.notubizFullHours * 3_600_000,
    maxAnswerBytes: raadsfeed.aggregatorMaxAnswerBytes,
    maxSnapshotRecords: raadsfeed.aggregatorMaxSnapshotRecords,
    pollMs: raadsfeed.aggregatorPollMs,
    restartMs: raadsfeed.aggregatorBackoffMaxMs,
  };
}

/** Ends the connections to sources. */
export async function closeAggregatorNeeds({ client, adapters }: SupplierNeeds): Promise<void> {
  await Promise.all([client.close(), ...adapters.map((adapter) => adapter.close())]);
}

export function createAggregator(platform: Platform): Aggregator {
  const { raadsfeed } = platform.config;
  const { pool, log } = platform;
  const needs = openAggregatorNeeds(platform);
  const metrics = createAggregatorMetrics(platform.metrics, pool);
  let cleaning: NodeJS.Timeout | undefined;
  let isRewriting = false;
  const work: RunTurnNeeds = {
    ...needs,
    metrics,
    backoff: { firstMs: raadsfeed.aggregatorBackoffMs, maxMs: raadsfeed.aggregatorBackoffMaxMs },
    turn: async (lease, signal) => {
      const { source } = lease;
      if (source.soort === 'leveranciers-api') return await readSupplier(lease, needs, signal);
      const tolerant = source.foutSoort === 'records' && source.mislukt >= 2;
      return await followSource(lease, needs, { signal, maxPages: PAGES_PER_TURN, tolerant });
    },
  };
  const schedulers = (['feed', 'leveranciers-api'] as const).map((soort) =>
    createScheduler({
      pool,
      log,
      holder: `${hostname()} ${process.pid} ${randomUUID()}`,
      soort,
      concurrency: soort === 'feed' ? raadsfeed.aggregatorConcurrency : SUPPLIERS_AT_ONCE,
      leaseSeconds: raadsfeed.aggregatorLeaseSeconds,
      stopping: platform.stopping,
      run: (lease, signal) => runTurn(lease, work, signal),
    }),
  );
  return {
    start() {
      limitYoungGeneration();
      for (const scheduler of schedulers) scheduler.start();
      // What could not be written anew right after its redaction, because somebody was still reading it.
      cleaning ??= setInterval(() => {
        if (isRewriting) return;
        isRewriting = true;
        rewriteParts(pool)
          .catch((error: unknown) => log.warn({ err: error }, 'redacted content still stands in files'))
          .finally(() => {
            isRewriting = false;
          });
      }, CLEAN_MS);
      cleaning.unref();
    },
    async close() {
      clearInterval(cleaning);
      await Promise.all(schedulers.map((scheduler) => scheduler.close()));
      await closeAggregatorNeeds(needs);
    },
  };
}
