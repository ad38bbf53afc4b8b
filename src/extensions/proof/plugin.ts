/** The proof logs as part of the service: sequencers, public addresses, readiness and metrics. */
import type { FastifyInstance } from 'fastify';
import fp from 'fastify-plugin';
import { Counter, Gauge, type Registry } from 'prom-client';
import type { Pool } from '../../database/pool.ts';
import { openToOrigins } from '../../plugins/headers.ts';
import { readOpenapi } from '../../plugins/openapi-document.ts';
import { mount } from '../../plugins/server.ts';
import { numberedRecords } from '../../raadsfeed/store/proof.ts';
import type { OperatorSection, ReadinessCheck, ReadinessResult } from '../../seams/operations.ts';
import { isProofLogOn, PROOF_LOGS, type ProofLogName } from '../../seams/proof-log.ts';
import { type Config, ConfigError } from '../../settings/read-config.ts';
import { recordProofRoute } from './feed-route.ts';
import { createInstances } from './instances.ts';
import { requireRightKey } from './keys.ts';
import { logRoutes } from './routes.ts';
import { createSequencer, type Sequencer } from './sequencer.ts';
import { openPublishedCheckpoints, statePath } from './state.ts';
import { readLog, readQueue } from './store/logs.ts';
import { openWitnessing } from './witness/open.ts';
import { logsOf } from './writer.ts';

const CONTRACT = new URL('../../../openapi/proof.yaml', import.meta.url);
export const PROOF_PREFIX = '/proof/v1';
/** Entries that wait for longer than so many intervals are worth a warning. */
const LATE_INTERVALS = 3;

/**
 * The proof logs, their witnesses, and this service as a witness of others; nothing when no log is switched on here.
 * @throws {Error} for operators, when a log is kept in this database and the configuration does not know of it
 */
export const plugin = fp(serveProof, {
  name: 'proof',
  dependencies: ['database', 'store-hooks', 'operations', 'metrics'],
});

async function serveProof(app: FastifyInstance): Promise<void> {
  const { settings: config, log, stopping } = app;
  const { pool } = app.database;
  const configured = logsOf(config);
  const served = new Set(configured);
  const mounted = new Set(logsOf({ server: config.server, proof: { ...config.proof, key: 'any', logs: PROOF_LOGS } }));
  for (const name of PROOF_LOGS) {
    if (mounted.has(name) && !served.has(name) && (await isProofLogOn(pool, name)))
      throw new Error(
        `the proof log ${name} is kept in this database: PROOF_KEY and PROOF_LOGS must say so; PROOF_ENDED ends it`,
      );
  }
  const logs: ProofLogName[] = [];
  // One that was ended before it began is not begun.
  for (const name of configured) if (!isEnded(config, name) || (await isProofLogOn(pool, name))) logs.push(name);
  if (logs.length === 0) return;
  if (config.proof.key === undefined)
    throw new ConfigError([
      {
        variable: 'PROOF_KEY',
        wrong: 'is missing beside PROOF_SEALING_KEY',
        allowed: 'the key itself: a service signs. PROOF_SEALING_KEY is for commands and for other applications',
      },
    ]);
  await requireRightKey(pool, config);
  const writer = app.proof('raadsfeed');
  const feed = writer === undefined ? undefined : numberedRecords(writer);
  const witnessing = await openWitnessing(app);
  const proofKey = Buffer.from(config.proof.key, 'base64');
  const { intervalSeconds, pad } = config.proof;
  const published = await openPublishedCheckpoints(statePath(config));
  const instances = createInstances({ config, log, stopping });
  const sequencers = logs.map((name) =>
    createSequencer({
      pool,
      log: name,
      proofKey,
      published,
      host: () => new URL(app.publicBaseUrl()).hostname,
      pad,
      intervalSeconds,
      numbered: name === 'raadsfeed' ? feed : undefined,
      seen: instances?.latest,
      witnesses: witnessing?.witnesses,
    }),
  );
  measure(app.metrics, pool, sequencers);
  const failures = new Counter({
    name: 'koppelvlak_proof_failures_total',
    help: 'Rounds of a sequencer that failed',
    labelNames: ['log'],
    registers: [app.metrics],
  });

  /** A failed round is tried again at the next turn; meanwhile entries wait in the queue. */
  async function turn(): Promise<void> {
    for (const sequencer of sequencers) {
      const before = sequencer.conflict();
      try {
        await sequencer.round();
      } catch (error) {
        failures.inc({ log: sequencer.log });
        log.warn({ err: error, log: sequencer.log }, 'the sequencer of a proof log failed and will try again');
      }
      const conflict = sequencer.conflict();
      if (conflict !== undefined && conflict.message !== before?.message)
        log.error(
          { log: sequencer.log, err: conflict },
          'nothing is signed: the tree does not extend what was published',
        );
    }
  }

  let running = Promise.resolve();
  let timer: NodeJS.Timeout | undefined;
  app.addHook('onListen', async () => {
    // At once, so that the logs are begun and have a checkpoint before much is recorded.
    running = turn();
    await running;
    timer = setInterval(() => {
      running = running.then(turn);
    }, intervalSeconds * 1000).unref();
  });
  // The last one is called first, and one that fails keeps none of the others from closing.
  app.addHook('onClose', async () => witnessing?.close());
  app.addHook('onClose', async () => instances?.close());
  app.addHook('onClose', async () => {
    clearInterval(timer);
    await running;
  });
  app.readiness.add(...sequencers.map((sequencer) => checkOf(config, pool, sequencer)), ...(witnessing?.checks ?? []));
  app.operatorPage.add(logsSection(pool, sequencers));
  await mount(app, {
    prefix: PROOF_PREFIX,
    contract: { document: readOpenapi(CONTRACT) },
    rateLimit: 0,
    routes: async (scope) => {
      openToOrigins(scope);
      if (writer !== undefined) recordProofRoute(scope, { pool, writer });
      await witnessing?.routes(scope);
      logRoutes(scope, { pool, sequencers });
    },
  });
}

function isEnded({ proof }: Pick<Config, 'proof'>, log: ProofLogName): boolean {
  return proof.ended.some((name) => name === log);
}

function checkOf(config: Config, pool: Pool, sequencer: Sequencer): ReadinessCheck {
  return {
    name: `proof log ${sequencer.log}`,
    vital: false,
    check: async (): Promise<ReadinessResult> => {
      const conflict = sequencer.conflict();
      if (conflict !== undefined) return { ok: true, warning: `nothing is signed: ${conflict.message}` };
      const waiting = sequencer.waiting();
      if (waiting !== undefined) return { ok: true, warning: `nothing new is signed: ${waiting}` };
      if (isEnded(config, sequencer.log))
        return { ok: true, warning: 'ended: what is recorded has no entry (PROOF_ENDED)' };
      const { pending, oldestSeconds } = await readQueue(pool, sequencer.log);
      if (oldestSeconds <= LATE_INTERVALS * config.proof.intervalSeconds) return { ok: true };
      return { ok: true, warning: `${pending} entries wait for a place, the first for ${Math.round(oldestSeconds)} s` };
    },
  };
}

/** For the operator's page. */
function logsSection(pool: Pool, sequencers: readonly Sequencer[]): OperatorSection {
  return {
    title: 'Proof logs',
    read: async () => ({
      columns: ['log', 'leaves of the tree', 'entries that wait', 'the first for', 'fault'],
      rows: await Promise.all(
        sequencers.map(async ({ log, conflict, waiting }) => {
          const [stored, { pending, oldestSeconds }] = await Promise.all([readLog(pool, log), readQueue(pool, log)]);
          return [
            log,
            stored?.size ?? 0,
            pending,
            `${Math.round(oldestSeconds)} s`,
            conflict()?.message ?? waiting() ?? '',
          ];
        }),
      ),
    }),
  };
}

function measure(metrics: Registry, pool: Pool, sequencers: readonly Sequencer[]): void {
  const gauge = (name: string, help: string, value: (sequencer: Sequencer) => Promise<number>): void => {
    new Gauge({
      name: `koppelvlak_proof_${name}`,
      help,
      labelNames: ['log'],
      registers: [metrics],
      async collect() {
        for (const sequencer of sequencers) this.set({ log: sequencer.log }, await value(sequencer).catch(() => 0));
      },
    });
  };
  gauge('leaves', 'Leaves of the tree', async ({ log }) => (await readLog(pool, log))?.size ?? 0);
  gauge('queue', 'Entries without a place', async ({ log }) => (await readQueue(pool, log)).pending);
  gauge('lateness_seconds', 'How long the first entry without a place has waited', async ({ log }) => {
    return (await readQueue(pool, log)).oldestSeconds;
  });
  gauge('conflict', '1 while nothing is signed because the tree does not extend what was published', async (one) =>
    one.conflict() === undefined ? 0 : 1,
  );
}
