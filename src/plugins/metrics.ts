import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import fp from 'fastify-plugin';
import { collectDefaultMetrics, Gauge, Registry } from 'prom-client';
import { shareRuns } from '../lib/scheduling.ts';

declare module 'fastify' {
  interface FastifyInstance {
    readonly metrics: Registry;
  }
}

let ofProcess: Registry | undefined;

/** Of the process, once for all its servers: prom-client cannot stop, and would keep each server and observe every garbage collection. */
function processMetrics(): Registry {
  if (ofProcess === undefined) {
    ofProcess = new Registry();
    collectDefaultMetrics({ register: ofProcess });
  }
  return ofProcess;
}

export const metrics = fp(
  async (app: FastifyInstance) => {
    const registry = Registry.merge([processMetrics()]);
    const { organisation } = app.settings.server;
    if (organisation !== undefined) registry.setDefaultLabels({ organisation });
    app.decorate('metrics', registry);
  },
  { name: 'metrics', dependencies: ['service'] },
);

const SCRAPE_MS = 2000;

/** Gauges of one reading, one at a time. When that fails or is slow they keep their values: just then an operator needs the others. */
export function createGauges<T>(registry: Registry, prefix: string, read: () => Promise<T>) {
  const reading = shareRuns(() => read().catch(() => undefined));
  return (name: string, help: string, show: (gauge: Gauge, found: T) => void, labelNames: string[] = []): void => {
    new Gauge({
      name: `koppelvlak_${prefix}_${name}`,
      help,
      labelNames,
      registers: [registry],
      async collect() {
        const found = await Promise.race([reading.run(), sleep(SCRAPE_MS, undefined, { ref: false })]);
        if (found !== undefined) show(this, found);
      },
    });
  };
}
