import type { FastifyInstance } from 'fastify';
import fp from 'fastify-plugin';
import { Gauge, type Registry } from 'prom-client';
import { databaseChecks, slowStatements } from '../database/checks.ts';
import { type Database, openDatabase } from '../database/open-database.ts';

declare module 'fastify' {
  interface FastifyInstance {
    readonly database: Database;
  }
}

export const database = fp(
  async (app: FastifyInstance) => {
    const { settings, clock, metrics, log } = app;
    const opened = await openDatabase({ config: settings, log, purpose: 'service' });
    app.decorate('database', opened);
    app.addHook('onClose', opened.close);
    app.readiness.push(...databaseChecks({ database: opened, clock, areas: settings.server.areas }));
    app.operatorPage.push(slowStatements(opened.pool));
    measurePools(metrics, opened);
  },
  { name: 'database', dependencies: ['service', 'operations', 'metrics'] },
);

function measurePools(metrics: Registry, opened: Database): void {
  const pools = Object.entries({
    background: opened.pool,
    append: opened.appendPool,
    log: opened.logPool,
    exchange: opened.exchangePool,
    public: opened.publicPool,
    retention: opened.retentionPool,
  });
  new Gauge({
    name: 'koppelvlak_database_pool_connections',
    help: 'Connections of each pool: in total, and idle',
    labelNames: ['pool', 'state'],
    registers: [metrics],
    collect() {
      for (const [pool, { totalCount, idleCount }] of pools) {
        this.set({ pool, state: 'total' }, totalCount);
        this.set({ pool, state: 'idle' }, idleCount);
      }
    },
  });
  new Gauge({
    name: 'koppelvlak_database_pool_waiting',
    help: 'Callers that wait for a connection of each pool',
    labelNames: ['pool'],
    registers: [metrics],
    collect() {
      for (const [pool, { waitingCount }] of pools) this.set({ pool }, waitingCount);
    },
  });
}
