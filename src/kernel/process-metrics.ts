import { collectDefaultMetrics, Gauge } from 'prom-client';
import type { Platform } from './platform.ts';

/** Measures the process itself (processor, memory, event loop) under their usual names, and the pool of connections. */
export function measureProcess({ metrics, pool }: Pick<Platform, 'metrics' | 'pool'>): void {
  collectDefaultMetrics({ register: metrics });
  new Gauge({
    name: 'database_pool_connections',
    help: 'Connections of the pool: all there are, and those that lie idle',
    labelNames: ['state'],
    registers: [metrics],
    collect() {
      this.set({ state: 'total' }, pool.totalCount);
      this.set({ state: 'idle' }, pool.idleCount);
    },
  });
  new Gauge({
    name: 'database_pool_waiting',
    help: 'Callers that wait for a connection',
    registers: [metrics],
    collect() {
      this.set(pool.waitingCount);
    },
  });
}
