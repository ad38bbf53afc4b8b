/** The proof logs as part of the service: sequencers, public addresses, readiness and metrics. */
import type { FastifyInstance } from 'fastify';
import fp from 'fastify-plugin';
import { Counter, type Gauge } from 'prom-client';
import type { Pool } from '../database/pool.ts';
import { reasonOf } from '../lib/log.ts';
import { readOpenapi } from '../lib/openapi-document.ts';
import { createGuardedFetch } from '../lib/outbound/guarded-fetch.ts';
import { progressText } from '../lib/progress.ts';
import { createGauges } from '../plugins/metrics.ts';
import { createFailing, type Failing, repeatWork } from '../plugins/repeated-work.ts';
import { mount } from '../plugins/requests.ts';
import { type Config, ConfigError } from '../settings/read-config.ts';
import { proofKeyOf, requireRightKey } from './keys.ts';
import { controlePage } from './page/routes.ts';
import { isProofLogOn, PROOF_LOGS, type ProofLogName, type ProofWriterOf, type ProvenLog } from './proof-log.ts';
import { logRoutes } from './routes.ts';
import { createSequencer, type Sequencer } from './sequencer.ts';
import { openPublishedCheckpoints, statePath } from './state.ts';
import { nextNumber, readLog, readOrigins, readQueue, type StoredLog } from './store/logs.ts';
import { MAX_NOTE_BYTES } from './tlog/note.ts';
import { openWitnesses, readPolicy } from './witness/client.ts';
import { openWitness } from './witness/server.ts';
import { createProofWriters, logsOf } from './writer.ts';

declare module 'fastify' {
  interface FastifyInstance {
    readonly proof: ProofWriterOf;
  }
}

/** What areas seal and prove with: `app.proof`. */
export const proofWriters = fp(
  async (app: FastifyInstance) => {
    app.decorate('proof', createProofWriters(app.settings));
  },
  { name: 'proof-writers', dependencies: ['service'] },
);

const CONTRACT = new URL('../../openapi/proof.yaml', import.meta.url);
const PROOF_PREFIX = '/proof/v1';
const LATE_INTERVALS = 3;

/**
 * Serves nothing when no log is switched on here. @param options.logs of the areas that are served
 * @throws {Error} for operators, when this database has a log that is not configured
 */
export const proof = fp(serveProof, {
  name: 'proof',
  dependencies: ['database', 'proof-writers', 'operations', 'metrics'],
});

async function serveProof(app: FastifyInstance, { logs: registered }: { logs: readonly ProvenLog[] }): Promise<void> {
  const { settings: config } = app;
  const { pool, publicPool } = app.database;
  const { intervalSeconds, pad, witnesses: policyPath, witnessFor } = config.proof;
  const logs = await logsToServe(pool, config);
  if (logs.length === 0) return;
  const proofKey = proofKeyOf(config.proof);
  if (proofKey === undefined)
    throw new ConfigError([
      {
        variable: 'PROOF_KEY',
        wrong: 'is missing beside PROOF_SEALING_KEY',
        allowed: 'the key itself: a service signs. PROOF_SEALING_KEY is for commands and for other applications',
      },
    ]);
  await requireRightKey(pool, config);
  const proven = new Map(registered.map((one) => [one.name, { ...one, writer: app.proof(one.name) }]));
  const policy = policyPath === undefined ? undefined : await readPolicy(policyPath);
  const witness = witnessFor === undefined ? undefined : await openWitness(app, proofKey, witnessFor);
  const published = await openPublishedCheckpoints(statePath(config));
  const seen = askInstances(app);
  const witnesses = policy === undefined ? undefined : openWitnesses(app, policy);
  const sequencers = logs.map((name) => {
    const { numbered, writer } = proven.get(name) ?? {};
    return {
      failing: createFailing(app.clock),
      ...createSequencer({
        pool,
        log: name,
        proofKey,
        published,
        pad,
        intervalSeconds,
        witnesses,
        seen,
        stopping: app.stopping,
        host: () => new URL(app.publicBaseUrl()).hostname,
        numbered: writer === undefined ? undefined : numbered?.(writer),
      }),
    };
  });
  runInTurns(app, sequencers);
  observe(app, sequencers);
  const keysHere = async (): Promise<readonly string[]> => {
    const origins = await Promise.all(logsOf(config).map((name) => readOrigins(publicPool, name)));
    const ofWitnesses = policy?.witnesses.map(({ key }) => key.text) ?? [];
    return [...origins.flat().map(({ verifierKey }) => verifierKey), ...ofWitnesses];
  };
  await mount(app, {
    prefix: PROOF_PREFIX,
    contract: { document: readOpenapi(CONTRACT) },
    rateLimit: 0,
    isOpen: true,
    routes: async (scope) => {
      for (const { routes, writer } of proven.values()) if (writer !== undefined) routes?.(scope, publicPool, writer);
      controlePage(scope, keysHere);
      if (witness !== undefined) await scope.register(witness, { prefix: '/witness' });
      logRoutes(scope, publicPool, sequencers);
    },
  });
}

/** The configured logs, except for those that were ended before they began. @throws {Error} when a log of this database is not configured */
async function logsToServe(pool: Pool, config: Config): Promise<ProofLogName[]> {
  const configured = logsOf(config);
  const mounted = logsOf({ server: config.server, proof: { ...config.proof, key: 'any', logs: PROOF_LOGS } });
  for (const name of mounted) {
    if (!configured.includes(name) && (await isProofLogOn(pool, name)))
      throw new Error(
        `the proof log ${name} is kept in this database: PROOF_KEY and PROOF_LOGS must say so; PROOF_ENDED ends it`,
      );
  }
  const kept = await Promise.all(configured.map(async (name) => !isEnded(config, name) || isProofLogOn(pool, name)));
  return configured.filter((_, i) => kept[i]);
}

function isEnded({ proof }: Config, log: ProofLogName): boolean {
  return proof.ended.some((name) => name === log);
}

interface RunSequencer extends Sequencer {
  readonly failing: Failing;
}

/** A round of each sequencer every interval, one after another. A failed round is retried; meanwhile entries wait in the queue. */
function runInTurns(app: FastifyInstance, sequencers: readonly RunSequencer[]): void {
  const { log, settings, metrics } = app;
  const failures = new Counter({
    name: 'koppelvlak_proof_failures_total',
    help: 'Rounds of a sequencer that failed',
    labelNames: ['log'],
    registers: [metrics],
  });
  const attempt = async <T>(sequencer: RunSequencer, work: () => Promise<T>): Promise<T | undefined> => {
    const { log: name, failing, conflict } = sequencer;
    const before = conflict();
    let result: T | undefined;
    try {
      result = await work();
      failing.succeeded();
    } catch (error) {
      failing.failed(error);
      failures.inc({ log: name });
      log.warn({ err: error, log: name }, 'the sequencer of a proof log failed and will try again');
    }
    const err = conflict();
    if (err !== undefined && err.message !== before?.message)
      log.error({ log: name, err }, 'nothing is signed: the tree does not extend what was published');
    return result;
  };
  app.addHook('onListen', async () => {
    await Promise.all(sequencers.map((sequencer) => attempt(sequencer, sequencer.begin)));
  });
  repeatWork(app, {
    everyMs: settings.proof.intervalSeconds * 1000,
    failure: 'the proof logs cannot be kept up; it will be retried',
    async step() {
      let isMore = false;
      for (const sequencer of sequencers) isMore = (await attempt(sequencer, sequencer.round)) || isMore;
      return isMore ? 'changed' : 'done';
    },
  });
}

function observe(app: FastifyInstance, sequencers: readonly RunSequencer[]): void {
  const { settings: config, metrics } = app;
  const { pool } = app.database;
  for (const sequencer of sequencers) {
    app.readiness.push({
      name: `proof log ${sequencer.log}`,
      vital: false,
      runbook: 'koppelvlakprooflate',
      check: async () => ({ ok: true, warning: warningOf(config, await stateOf(pool, sequencer)) }),
    });
  }
  const states = (): Promise<LogState[]> => Promise.all(sequencers.map((one) => stateOf(pool, one)));
  app.operatorPage.push({
    title: 'Proof logs',
    read: async () => ({
      columns: ['log', 'leaves of the tree', 'entries that wait', 'the first for', 'fault'],
      rows: (await states()).map(({ log, leaves, pending, oldestSeconds, unsigned = '' }) => {
        return [log, leaves, pending, `${Math.round(oldestSeconds)} s`, unsigned];
      }),
    }),
  });
  const add = createGauges(metrics, 'proof', states);
  const gauge = (name: string, help: string, value: (state: LogState) => number): void => {
    const show = (shown: Gauge, all: readonly LogState[]): void => {
      for (const state of all) shown.set({ log: state.log }, value(state));
    };
    add(name, help, show, ['log']);
  };
  gauge('leaves', 'Leaves of the tree', ({ leaves }) => leaves);
  gauge('queue', 'Entries without a place', ({ pending }) => pending);
  gauge('lateness_seconds', 'How long the first entry without a place has waited', (state) => state.oldestSeconds);
  gauge('conflict', '1 while nothing is signed because the tree does not extend what was published', (state) =>
    state.isConflict ? 1 : 0,
  );
}

type LogState = Awaited<ReturnType<typeof stateOf>>;

async function stateOf(pool: Pool, { log, conflict, waiting, failing }: RunSequencer) {
  const [stored, queue] = await Promise.all([readLog(pool, log), readQueue(pool, log)]);
  const [fault, reason] = [conflict(), waiting()];
  const waits = failing.text() ?? (reason && `nothing new is signed: ${reason}`);
  const unsigned = fault === undefined ? waits : `nothing is signed: ${fault.message}`;
  return { ...queue, log, stored, leaves: stored?.size ?? 0, isConflict: fault !== undefined, unsigned };
}

function warningOf(config: Config, { log, stored, pending, oldestSeconds, unsigned }: LogState): string | undefined {
  if (unsigned !== undefined) return unsigned;
  if (stored === undefined) return 'not started yet';
  // Of the records published before the log was switched on.
  const entered = nextNumber(stored) - 1;
  if (entered < stored.takenOverTo) return progressText(entered, stored.takenOverTo);
  if (isEnded(config, log)) return 'ended: what is recorded has no entry (PROOF_ENDED)';
  if (oldestSeconds <= LATE_INTERVALS * config.proof.intervalSeconds) return undefined;
  return `${pending} entries wait for a place, the first for ${Math.round(oldestSeconds)} s`;
}

const INSTANCE_TIMEOUT_MS = 2_000;

/** The last checkpoints that other instances published, not verified: they remember them outside the database. One that fails is left out. */
function askInstances(app: FastifyInstance): (log: StoredLog) => Promise<readonly string[]> {
  const { settings, stopping: signal } = app;
  // The operator chose the addresses.
  const { fetch, close } = createGuardedFetch({ allowPrivate: true, proxy: settings.server });
  app.addHook('onClose', close);

  const ask = async (instance: string, { log, number }: StoredLog): Promise<readonly string[]> => {
    const origin = number === 1 ? log : `${log}/${number}`;
    const url = `${instance.replace(/\/$/, '')}/proof/v1/${origin}/checkpoint`;
    try {
      const limits = { timeoutMs: INSTANCE_TIMEOUT_MS, maxBytes: MAX_NOTE_BYTES, signal };
      return [Buffer.from(await fetch({ url, method: 'GET', ...limits })).toString('utf8')];
    } catch (error) {
      signal.throwIfAborted();
      app.log.warn({ instance, reason: reasonOf(error) }, 'an instance did not report its last publication');
      return [];
    }
  };

  return async (log) => (await Promise.all(settings.proof.instances.map((instance) => ask(instance, log)))).flat();
}
