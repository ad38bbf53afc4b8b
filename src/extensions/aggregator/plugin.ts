import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import type { FastifyInstance } from 'fastify';
import fp from 'fastify-plugin';
import { limitYoungGeneration } from '../../lib/scheduling.ts';
import { closeDependencies, openDependencies } from './dependencies.ts';
import { followSource } from './feed/follow-source.ts';
import { createAggregatorMetrics } from './metrics.ts';
import { sourcesSection } from './operator-section.ts';
import { readCompletenessOf } from './store/sources.ts';
import { readSupplier } from './supplier/read-supplier.ts';
import { createScheduler, runSource, type WorkerDependencies } from './worker.ts';

/** Pages that are read of a source before others are read. */
const PAGES_PER_RUN = 10;
/** Suppliers that are read at the same time; the adapter limits the calls. */
const SUPPLIERS_AT_ONCE = 4;

/** Follows the sources of the feed for as long as the service runs. */
export const plugin = fp(
  async (app: FastifyInstance) => {
    const { settings: config, log, stopping } = app;
    const { aggregator: settings } = config;
    const pool = app.database.shares.raadsfeed;
    const { clock, publicBaseUrl, proof } = app;
    const deps = openDependencies({ config, pool, clock, log, publicBaseUrl, proof });
    const worker: WorkerDependencies = {
      ...deps,
      metrics: createAggregatorMetrics(app.metrics, pool),
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
        stopping,
        run: (lease, signal) => runSource(lease, worker, signal),
      }),
    );
    app.addHook('onListen', async () => {
      limitYoungGeneration();
      for (const scheduler of schedulers) scheduler.start();
    });
    app.addHook('onClose', async () => {
      await Promise.all(schedulers.map((scheduler) => scheduler.close()));
      await closeDependencies(deps);
    });
    app.operatorPage.add(sourcesSection(pool));
    app.feed.knowCompleteness((organisatiecode) => readCompletenessOf(pool, organisatiecode));
  },
  { name: 'aggregator', dependencies: ['raadsfeed'] },
);
