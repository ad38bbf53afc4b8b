/** The second listener: health, metrics and the page that shows them, for operators only. */
import Fastify, { type FastifyInstance } from 'fastify';
import type { Registry } from 'prom-client';
import type { Logger } from '../lib/log.ts';
import type { Clock } from '../lib/time.ts';
import type { OperatorSection, ReadinessCheck } from '../platform.ts';
import { createConditions } from './operator/conditions.ts';
import { operatorPage } from './operator/page.ts';
import { createSamples, SAMPLE_MS } from './operator/samples.ts';

export interface ManagementOptions {
  readonly metrics: Registry;
  readonly checks: readonly ReadinessCheck[];
  /** What the areas add to the page. */
  readonly sections: readonly OperatorSection[];
  readonly clock: Clock;
  readonly log: Logger;
  /** True once the process is stopping: alive, but not to be given new work. */
  readonly stopping: () => boolean;
}

export function buildManagement({
  metrics,
  checks,
  sections,
  clock,
  log,
  stopping,
}: ManagementOptions): FastifyInstance {
  const app = Fastify({ logger: false, requestTimeout: 10_000, bodyLimit: 1024 });
  app.addHook('onRequest', (_request, reply, done) => {
    reply.header('cache-control', 'no-store');
    done();
  });
  const conditions = createConditions(checks, clock);
  const samples = createSamples(metrics);
  const sample = (): void => {
    samples.take().catch((error: unknown) => log.warn({ err: error }, 'the metrics could not be sampled'));
  };
  const sampling = setInterval(sample, SAMPLE_MS).unref();
  app.addHook('onClose', async () => clearInterval(sampling));
  operatorPage(app, { conditions, samples, sections, clock, stopping });
  app.get('/health/live', async () => ({ status: 'live' }));
  app.get('/health/ready', async (_request, reply) => {
    const found = await conditions.run();
    const results = found.map(({ state: _state, since: _since, ...result }) => result);
    const ready = !stopping() && results.every(({ ok }) => ok);
    return reply
      .code(ready ? 200 : 503)
      .send({ status: stopping() ? 'stopping' : ready ? 'ready' : 'not ready', checks: results });
  });
  app.get('/metrics', async (_request, reply) => reply.type(metrics.contentType).send(await metrics.metrics()));
  return app;
}
