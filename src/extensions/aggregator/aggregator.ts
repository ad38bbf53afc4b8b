import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import type { OperatorSection, Platform } from '../../kernel/platform.ts';
import { limitYoungGeneration } from '../../kernel/scheduling.ts';
import type { SourceCompleteness } from '../../raadsfeed/store/state.ts';
import { rewritePartitions } from '../../raadsfeed/store/text-partitions.ts';
import { closeDependencies, openDependencies } from './dependencies.ts';
import { followSource } from './feed/follow-source.ts';
import { createAggregatorMetrics } from './metrics.ts';
import { sourcesSection } from './operator-section.ts';
import { readCompletenessOf } from './store/completeness.ts';
import { readSupplier } from './supplier/read-supplier.ts';
import { createScheduler, runSource, type WorkerDependencies } from './worker.ts';

/** Follows the sources for as long as the service runs. */
export interface Aggregator {
  /** How the sources go, for the operator's page. */
  readonly section: OperatorSection;
  /** For the page of an organisation; undefined when it has no source here. */
  completenessOf(organisatiecode: string): Promise<SourceCompleteness | undefined>;
  start(): void;
  close(): Promise<void>;
}

/** Pages that are read of a source before others are read. */
const PAGES_PER_RUN = 10;
/** Suppliers that are read at the same time; the adapter limits the calls. */
const SUPPLIERS_AT_ONCE = 4;
/** Milliseconds between attempts to rewrite partitions that still hold redacted text. */
const REWRITE_MS = 10_000;

export function createAggregator(platform: Platform): Aggregator {
  const { aggregator: settings } = platform.config;
  const { pool, log } = platform;
  const deps = openDependencies(platform);
  const worker: WorkerDependencies = {
    ...deps,
    metrics: createAggregatorMetrics(platform.metrics, pool),
    backoff: { firstMs: settings.backoffMs, maxMs: settings.backoffMaxMs },
    read: async (lease, signal) => {
      const { source } = lease;
      if (source.soort === 'leveranciers-api') return await readSupplier(lease, deps, signal);
      const tolerant = source.failureKind === 'records' && source.failures >= 2;
      return await followSource(lease, deps, { signal, maxPages: PAGES_PER_RUN, tolerant });
    },
  };
  const schedulers = (['feed', 'leveranciers-api'] as const).map((soort) =>
    createScheduler({
      pool,
      log,
      holder: `${hostname()} ${process.pid} ${randomUUID()}`,
      soort,
      concurrency: soort === 'feed' ? settings.concurrency : SUPPLIERS_AT_ONCE,
      leaseSeconds: settings.leaseSeconds,
      stopping: platform.stopping,
      run: (lease, signal) => runSource(lease, worker, signal),
    }),
  );
  let rewriting: NodeJS.Timeout | undefined;
  let isRewriting = false;
  // A partition that was still being read could not be rewritten right after the redaction.
  const rewrite = (): void => {
    if (isRewriting) return;
    isRewriting = true;
    rewritePartitions(pool)
      .catch((error: unknown) => log.warn({ err: error }, 'redacted text is still in files of the database'))
      .finally(() => {
        isRewriting = false;
      });
  };
  return {
    section: sourcesSection(pool),
    completenessOf: (organisatiecode) => readCompletenessOf(pool, organisatiecode),
    start() {
      limitYoungGeneration();
      for (const scheduler of schedulers) scheduler.start();
      rewriting ??= setInterval(rewrite, REWRITE_MS).unref();
    },
    async close() {
      clearInterval(rewriting);
      await Promise.all(schedulers.map((scheduler) => scheduler.close()));
      await closeDependencies(deps);
    },
  };
}
