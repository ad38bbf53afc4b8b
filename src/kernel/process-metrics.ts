import { collectDefaultMetrics, Gauge } from 'prom-client';
import type { Platform } from './platform.ts';

/** Measures the process itself (processor, memory, event loop) under their usual names, and the pools of connections. */
export function measureProcess(platform: Platform): void {
  const { metrics } = platform;
  collectDefaultMetrics({ register: metrics });
  const pools = Object.entries({
    own: platform.pool,
    ...platform.shares,
    'verwerkingenlog-reads': platform.pipelinePool,
    'raadsfeed-reads': platform.readPool,
    ...(platform.replicaPool === undefined ? {} : { 'raadsfeed-replica': platform.replicaPool }),
    retention: platform.prunePool,
  });
  new Gauge({
    name: 'database_pool_connections',
    help: 'Connections of each share: all there are, and those that lie idle',
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
    name: 'database_pool_waiting',
    help: 'Callers that wait for a connection of each share',
    labelNames: ['pool'],
    registers: [metrics],
    collect() {
      for (const [pool, { waitingCount }] of pools) this.set({ pool }, waitingCount);
    },
  });
}
