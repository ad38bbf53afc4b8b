import type { FastifyInstance } from 'fastify';
import fp from 'fastify-plugin';
import { collectDefaultMetrics, Registry } from 'prom-client';

declare module 'fastify' {
  interface FastifyInstance {
    readonly metrics: Registry;
  }
}

/** The registry, with the process (processor, memory, event loop) measured. */
export const metrics = fp(
  async (app: FastifyInstance) => {
    const registry = new Registry();
    const { organisation } = app.settings.server;
    if (organisation !== undefined) registry.setDefaultLabels({ organisation });
    collectDefaultMetrics({ register: registry });
    app.decorate('metrics', registry);
  },
  { name: 'metrics', dependencies: ['service'] },
);
