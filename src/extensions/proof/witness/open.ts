/** Witnesses as part of the service: those that vouch for its logs, itself as a witness of others, and the page that checks proofs. */
import { readFile } from 'node:fs/promises';
import type { FastifyInstance } from 'fastify';
import { proveConsistency } from '../../../lib/tlog/merkle.ts';
import { createSigner, type NoteSigner, WITNESS_KEY } from '../../../lib/tlog/note.ts';
import { type Policy, PolicyError, parsePolicy } from '../../../lib/tlog/policy.ts';
import { readHashesFromTiles } from '../../../lib/tlog/tiles.ts';
import type { ReadinessCheck } from '../../../seams/operations.ts';
import { deriveSeed } from '../keys.ts';
import { controlePage } from '../page/routes.ts';
import type { Witnesses } from '../sequencer.ts';
import { openPublishedCheckpoints, statePath } from '../state.ts';
import { tileReader } from '../store/leaves.ts';
import { readOrigins, type StoredLog } from '../store/logs.ts';
import { logsOf } from '../writer.ts';
import { readLogKeys, witnessRoutes } from './routes.ts';
import { createWitnessState } from './state.ts';
import { type Cosigned, createWitnessClient, type WitnessClient } from './submit.ts';

/** Milliseconds that a witness has for one answer. */
const TIMEOUT_MS = 5_000;
const WITNESS_PATH = '/proof/v1/witness';

export interface Witnessing {
  /** Routes below `/proof/v1`. */
  readonly routes: (app: FastifyInstance) => Promise<void>;
  /** Those of `PROOF_WITNESSES`. */
  readonly witnesses: Witnesses | undefined;
  readonly checks: readonly ReadinessCheck[];
  close(): Promise<void>;
}

/**
 * Undefined without `PROOF_KEY`.
 * @throws {Error} for operators, when a file of witnesses or of logs cannot be used
 */
export async function openWitnessing(app: FastifyInstance): Promise<Witnessing | undefined> {
  const { settings: config } = app;
  const { pool } = app.database;
  if (config.proof.key === undefined) return undefined;
  const proofKey = Buffer.from(config.proof.key, 'base64');
  const policy = config.proof.witnesses === undefined ? undefined : await readPolicy(config.proof.witnesses);
  const logKeys = config.proof.witnessFor === undefined ? undefined : await readLogKeys(config.proof.witnessFor);
  const vouching = logKeys === undefined ? undefined : await witnessOf(app, proofKey, logKeys);
  const asking = policy === undefined ? undefined : askWitnesses(app, policy);
  return {
    async routes(scope) {
      controlePage(scope, async () => {
        const origins = await Promise.all(logsOf(config).map((log) => readOrigins(pool, log)));
        const witnesses = policy?.witnesses.map(({ key }) => key.text) ?? [];
        return [...origins.flat().map(({ verifierKey }) => verifierKey), ...witnesses];
      });
      if (vouching !== undefined) await scope.register(vouching, { prefix: '/witness' });
    },
    witnesses: asking?.witnesses,
    checks: asking === undefined ? [] : [asking.check],
    close: async () => await asking?.client.close(),
  };
}

async function witnessOf(app: FastifyInstance, proofKey: Uint8Array, logKeys: Awaited<ReturnType<typeof readLogKeys>>) {
  const outside = await openPublishedCheckpoints(`${statePath(app.settings)}.witness`);
  // The host is known once the server listens.
  let signer: NoteSigner | undefined;
  return witnessRoutes({
    get signer() {
      const name = `${new URL(app.publicBaseUrl()).hostname}${WITNESS_PATH}`;
      signer ??= createSigner(name, deriveSeed(proofKey, name), WITNESS_KEY);
      return signer;
    },
    logKeys,
    state: createWitnessState(app.database.pool, outside),
    now: () => Math.floor(app.clock.now().getTime() / 1000),
  });
}

function askWitnesses(app: FastifyInstance, policy: Policy) {
  const { settings: config, metrics, log: logger, clock, stopping } = app;
  const { pool } = app.database;
  const logs = new Map<string, StoredLog>();
  const last = new Map<string, Cosigned>();
  const { outboundProxy, outboundNoProxy } = config.server;
  const client: WitnessClient = createWitnessClient({
    policy,
    proveConsistency: async (origin, oldSize, newSize) => {
      const log = logs.get(origin);
      if (log === undefined) throw new Error('no checkpoint of this log was made here');
      return await proveConsistency(oldSize, newSize, readHashesFromTiles(newSize, tileReader(pool, log)));
    },
    proxy: { outboundProxy, outboundNoProxy },
    timeoutMs: TIMEOUT_MS,
    metrics,
    log: logger,
    now: () => clock.now().getTime(),
  });
  const check: ReadinessCheck = {
    name: 'proof witnesses',
    vital: false,
    check: async () => {
      const without = [...last].filter(([, { isQuorum }]) => !isQuorum);
      const [first] = without;
      if (first === undefined) return { ok: true };
      const [origin, { missing }] = first;
      return { ok: true, warning: `too few witnesses cosigned ${origin}; missing: ${missing.join(', ')}` };
    },
  };
  const witnesses: Witnesses = {
    async cosign(log, note) {
      logs.set(log.origin, log);
      const cosigned = await client.cosign(note, stopping);
      last.set(log.origin, cosigned);
      return cosigned;
    },
    confirm(log, note) {
      logs.set(log.origin, log);
      return client.confirm(note, stopping);
    },
    isNeeded: !policy.isQuorum([]),
  };
  return { client, check, witnesses };
}

/** @throws {Error} that names the line */
async function readPolicy(path: string): Promise<Policy> {
  try {
    return parsePolicy(await readFile(path));
  } catch (cause) {
    if (cause instanceof PolicyError) throw new Error(`PROOF_WITNESSES: ${cause.message}`, { cause });
    throw cause;
  }
}
