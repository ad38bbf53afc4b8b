/** The management listener: health, metrics and the operator's page. `serve` opens it before the public one. */
import Fastify, { type FastifyInstance } from 'fastify';
import fp from 'fastify-plugin';
import type { ReadinessCheck } from '../lib/operations.ts';
import { connections } from './connections.ts';
import { namesHost } from './headers.ts';
import { createConditions, WATCH_MS } from './operator/conditions.ts';
import { operatorPage } from './operator/page.ts';
import { createSamples, SAMPLE_MS } from './operator/samples.ts';

declare module 'fastify' {
  interface FastifyInstance {
    readonly management: FastifyInstance;
  }
}

export const management = fp(
  async (service: FastifyInstance) => {
    const app = await buildManagement(service);
    service.decorate('management', app);
    service.addHook('onClose', async () => app.close());
  },
  { name: 'management', dependencies: ['service', 'operations', 'metrics', 'connections'] },
);

async function buildManagement(service: FastifyInstance): Promise<FastifyInstance> {
  const { metrics, clock, log, readiness, settings } = service;
  /** Alive, but not ready for new work. */
  const isStopping = (): boolean => service.connections.isDraining() || service.stopping.aborted;
  // Node would refuse a request without `Host` with an empty body, and ignore a second one.
  const http = { requireHostHeader: false };
  const app = Fastify({ logger: false, requestTimeout: 10_000, bodyLimit: 1024, http });
  await app.register(connections, settings.server);
  app.addHook('onRequest', (request, reply, done) => {
    reply.header('cache-control', 'no-store');
    if (namesHost(request.raw)) done();
    else reply.code(400).send({ status: 'refused', detail: 'the request must have exactly one Host header' });
  });
  const isStarting = (): boolean => !service.server.listening && !isStopping();
  const conditions = createConditions(() => (isStarting() ? [STARTING] : readiness), clock);
  const samples = createSamples(metrics);
  const sample = (): void => {
    samples.take().catch((error: unknown) => log.warn({ err: error }, 'the metrics could not be sampled'));
  };
  const sampling = setInterval(sample, SAMPLE_MS).unref();
  const watching = setInterval(() => void conditions.run(), WATCH_MS).unref();
  app.addHook('onReady', async () => void conditions.run());
  app.addHook('onClose', async () => {
    clearInterval(sampling);
    clearInterval(watching);
  });
  operatorPage(app, { conditions, samples, sections: service.operatorPage, clock, isStopping });
  app.get('/health/live', async () => ({ status: 'live' }));
  app.get('/health/ready', async (_request, reply) => {
    const found = await conditions.run();
    const results = found.map(({ state: _state, since: _since, runbook: _runbook, ...result }) => result);
    const ready = !isStopping() && results.every(({ ok }) => ok);
    return reply
      .code(ready ? 200 : 503)
      .send({ status: isStopping() ? 'stopping' : ready ? 'ready' : 'not ready', checks: results });
  });
  app.get('/metrics', async (_request, reply) => reply.type(metrics.contentType).send(await metrics.metrics()));
  return app;
}

const STARTING: ReadinessCheck = {
  name: 'start',
  check: async () => ({
    ok: false,
    detail: 'the database is being opened and migrated; the interfaces listen after that',
  }),
};
