/** The second listener: health and metrics, for operators only. */
import Fastify, { type FastifyInstance } from 'fastify';
import type { Registry } from 'prom-client';
import { reasonOf } from '../kernel/log.ts';
import type { ReadinessCheck, ReadinessResult } from '../kernel/platform.ts';

/** A check that takes longer (milliseconds) counts as failed: the caller has a time-out too. */
const CHECK_TIMEOUT_MS = 3000;

export interface ManagementOptions {
  readonly metrics: Registry;
  readonly checks: readonly ReadinessCheck[];
  /** True once the process is stopping: alive, but not to be given new work. */
  readonly stopping: () => boolean;
}

export function buildManagement({ metrics, checks, stopping }: ManagementOptions): FastifyInstance {
  const app = Fastify({ logger: false, requestTimeout: 10_000, bodyLimit: 1024 });
  app.addHook('onRequest', (_request, reply, done) => {
    reply.header('cache-control', 'no-store');
    done();
  });
  app.get('/health/live', async () => ({ status: 'live' }));
  app.get('/health/ready', async (_request, reply) => {
    const results = await Promise.all(checks.map(run));
    const ready = !stopping() && results.every(({ ok }) => ok);
    return reply
      .code(ready ? 200 : 503)
      .send({ status: stopping() ? 'stopping' : ready ? 'ready' : 'not ready', checks: results });
  });
  app.get('/metrics', async (_request, reply) => reply.type(metrics.contentType).send(await metrics.metrics()));
  return app;
}

async function run(check: ReadinessCheck): Promise<ReadinessResult & { name: string }> {
  const { name, vital = true } = check;
  const { ok, detail, warning } = await resultOf(check);
  if (!ok && !vital) return { name, ok: true, ...(detail === undefined ? {} : { warning: detail }) };
  return { name, ok, ...(detail === undefined ? {} : { detail }), ...(warning === undefined ? {} : { warning }) };
}

/** A check that throws or takes too long fails. */
async function resultOf({ check }: ReadinessCheck): Promise<ReadinessResult> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error('no answer in time')), CHECK_TIMEOUT_MS);
  });
  try {
    return await Promise.race([check(), late]);
  } catch (error) {
    return { ok: false, detail: reasonOf(error) };
  } finally {
    clearTimeout(timer);
  }
}
