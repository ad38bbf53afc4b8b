/** The second listener: health, metrics and the page that shows them, for operators only. `serve` makes it listen, before the first. */
import Fastify, { type FastifyInstance } from 'fastify';
import fp from 'fastify-plugin';
import { reasonOf } from '../lib/log.ts';
import { withTimeout } from '../lib/scheduling.ts';
import type { Clock } from '../lib/time.ts';
import type { ReadinessCheck, ReadinessResult } from '../seams/operations.ts';
import { connections } from './connections.ts';
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
  /** Alive, but not to be given new work. */
  const isStopping = (): boolean => service.connections.isDraining() || service.stopping.aborted;
  const app = Fastify({ logger: false, requestTimeout: 10_000, bodyLimit: 1024 });
  await app.register(connections, settings.server);
  app.addHook('onRequest', (_request, reply, done) => {
    reply.header('cache-control', 'no-store');
    done();
  });
  const isStarting = (): boolean => !service.server.listening && !isStopping();
  const conditions = createConditions(() => (isStarting() ? [STARTING] : readiness.all), clock);
  const samples = createSamples(metrics);
  const sample = (): void => {
    samples.take().catch((error: unknown) => log.warn({ err: error }, 'the metrics could not be sampled'));
  };
  const sampling = setInterval(sample, SAMPLE_MS).unref();
  app.addHook('onClose', async () => clearInterval(sampling));
  operatorPage(app, { conditions, samples, sections: service.operatorPage.all, clock, isStopping });
  app.get('/health/live', async () => ({ status: 'live' }));
  app.get('/health/ready', async (_request, reply) => {
    const found = await conditions.run();
    const results = found.map(({ state: _state, since: _since, ...result }) => result);
    const ready = !isStopping() && results.every(({ ok }) => ok);
    return reply
      .code(ready ? 200 : 503)
      .send({ status: isStopping() ? 'stopping' : ready ? 'ready' : 'not ready', checks: results });
  });
  app.get('/metrics', async (_request, reply) => reply.type(metrics.contentType).send(await metrics.metrics()));
  return app;
}

/** A check that takes longer (milliseconds) counts as failed: the caller has a time-out too. */
const CHECK_TIMEOUT_MS = 3000;

interface Condition extends ReadinessResult {
  readonly name: string;
}

export interface DatedCondition extends Condition {
  readonly state: 'well' | 'warning' | 'failed';
  /** When a check first found it so; the process may have seen it later than it happened. */
  readonly since: Date;
}

export interface Conditions {
  /** Runs every check. */
  run(): Promise<DatedCondition[]>;
}

/** Instead of the other checks until the interfaces listen. */
const STARTING: ReadinessCheck = {
  name: 'start',
  check: async () => ({
    ok: false,
    detail: 'the database is being opened and migrated; the interfaces listen after that',
  }),
};

function createConditions(checks: () => readonly ReadinessCheck[], clock: Clock): Conditions {
  const states = new Map<string, { readonly state: DatedCondition['state']; readonly since: Date }>();
  return {
    async run() {
      const found = await Promise.all(checks().map(runCheck));
      return found.map((condition) => {
        const state: DatedCondition['state'] = !condition.ok
          ? 'failed'
          : condition.warning === undefined
            ? 'well'
            : 'warning';
        const known = states.get(condition.name);
        const dated = known?.state === state ? known : { state, since: clock.now() };
        states.set(condition.name, dated);
        return { ...condition, ...dated };
      });
    },
  };
}

async function runCheck(check: ReadinessCheck): Promise<Condition> {
  const { name, vital = true } = check;
  const { ok, detail, warning } = await resultOf(check);
  if (!ok && !vital) return { name, ok: true, ...(detail === undefined ? {} : { warning: detail }) };
  return { name, ok, ...(detail === undefined ? {} : { detail }), ...(warning === undefined ? {} : { warning }) };
}

/** A check that throws or takes too long fails. */
async function resultOf({ check }: ReadinessCheck): Promise<ReadinessResult> {
  try {
    return await withTimeout(CHECK_TIMEOUT_MS, 'the check', check());
  } catch (error) {
    return { ok: false, detail: reasonOf(error) };
  }
}
