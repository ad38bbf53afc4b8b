import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import type { FastifyInstance } from 'fastify';
import fp from 'fastify-plugin';
import { limitYoungGeneration } from '../../lib/scheduling.ts';
import { openDependencies } from './dependencies.ts';
import { followSource } from './feed/follow-source.ts';
import { registerSourceMetrics } from './metrics.ts';
import { sourcesSection } from './operator-section.ts';
import { SUPPLIER_SCHEMES } from './source.ts';
import { readCompletenessOf } from './store/sources.ts';
import { readSupplier } from './supplier/read-supplier.ts';
import { createScheduler, runSource } from './worker.ts';

/** More readers would only wait for calls. */
const SUPPLIERS_AT_ONCE = 2;

export const aggregator = fp(
  async (app: FastifyInstance) => {
    const { settings: config, log, stopping } = app;
    const { aggregator: settings } = config;
    const { clock, database, publicBaseUrl, proof } = app;
    const { pool } = database;
    const deps = openDependencies({ config, database, clock, log, publicBaseUrl, proof });
    registerSourceMetrics(app.metrics, pool);
    const schedulers = (['feed', ...SUPPLIER_SCHEMES] as const).map((kind) =>
      createScheduler({
        pool,
        log,
        holder: `${hostname()} ${process.pid} ${randomUUID()}`,
        kind,
        concurrency: kind === 'feed' ? settings.concurrency : SUPPLIERS_AT_ONCE,
        leaseSeconds: settings.leaseSeconds,
        stopping,
        run: (lease, signal) => runSource(lease, kind === 'feed' ? followSource : readSupplier, deps, signal),
      }),
    );
    app.addHook('onListen', async () => {
      limitYoungGeneration();
      for (const scheduler of schedulers) scheduler.start();
    });
    app.addHook('onClose', async () => {
      await Promise.all(schedulers.map((scheduler) => scheduler.close()));
      await deps.close();
    });
    app.operatorPage.push(sourcesSection(pool));
    app.feed.setCompletenessSource((organisatiecode) => readCompletenessOf(pool, organisatiecode));
  },
  { name: 'aggregator', dependencies: ['raadsfeed'] },
);
