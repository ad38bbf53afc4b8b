/** `app.metrics`: the registry, with the process (processor, memory, event loop) and every answer measured. */
import type { FastifyInstance } from 'fastify';
import fp from 'fastify-plugin';
import { collectDefaultMetrics, Histogram, Registry } from 'prom-client';

declare module 'fastify' {
  interface FastifyInstance {
    readonly metrics: Registry;
  }
}

export const metrics = fp(
  async (app: FastifyInstance) => {
    const registry = new Registry();
    const { organisation } = app.settings.server;
    if (organisation !== undefined) registry.setDefaultLabels({ organisation });
    collectDefaultMetrics({ register: registry });
    app.decorate('metrics', registry);
    measureRequests(app, registry);
  },
  { name: 'metrics', dependencies: ['service'] },
);

/** Measures every answer by route pattern, never by address, which may contain a personal identifier. */
function measureRequests(app: FastifyInstance, registry: Registry): void {
  const durations = new Histogram({
    name: 'koppelvlak_http_request_duration_seconds',
    help: 'Time from the head of a request to the end of its answer',
    labelNames: ['method', 'route', 'status'],
    buckets: [0.001, 0.005, 0.02, 0.1, 0.5, 2, 10],
    registers: [registry],
  });
  // Cached by combination, because resolving labels costs more than counting; there are few combinations.
  const observers = new Map<string, ReturnType<typeof durations.labels>>();
  app.addHook('onResponse', (request, reply, done) => {
    const { method } = request;
    const route = request.routeOptions.url ?? 'unknown';
    const key = `${method} ${route} ${reply.statusCode}`;
    let observer = observers.get(key);
    if (observer === undefined) {
      observer = durations.labels({ method, route, status: reply.statusCode });
      observers.set(key, observer);
    }
    observer.observe(reply.elapsedTime / 1000);
    done();
  });
}
