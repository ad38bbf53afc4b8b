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

/**
 * Of the process, collected once for all its servers: prom-client has no way to stop, and would keep each server and observe every garbage
 * collection.
 */
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

/**
 * Makes gauges of one reading: a scrape reads once for all of them, and never again before that has ended. When it fails or is slow they keep their
 * last values, for an operator needs the others most when the database does not answer.
 */
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
