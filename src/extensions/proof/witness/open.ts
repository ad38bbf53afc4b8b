/** Witnesses as part of the service: those that vouch for its logs, and itself as a witness of others. */
import { readFile } from 'node:fs/promises';
import type { FastifyInstance } from 'fastify';
import { proveConsistency } from '../../../lib/tlog/merkle.ts';
import { type NoteSigner, WITNESS_KEY } from '../../../lib/tlog/note.ts';
import { type Policy, PolicyError, parsePolicy } from '../../../lib/tlog/policy.ts';
import { readHashesFromTiles } from '../../../lib/tlog/tiles.ts';
import { signerOf } from '../keys.ts';
import { openPublishedCheckpoints, statePath } from '../state.ts';
import { tileReader } from '../store/leaves.ts';
import { readOrigin } from '../store/logs.ts';
import { createWitnessClient, type WitnessClient } from './client.ts';
import { createWitnessState, readLogKeys, witnessRoutes } from './routes.ts';

/** Milliseconds that a witness has for one answer. */
const TIMEOUT_MS = 5_000;

/** The policy of `PROOF_WITNESSES`. @throws {Error} for operators, when the file cannot be used */
export async function readPolicy(path: string): Promise<Policy> {
  try {
    return parsePolicy(await readFile(path));
  } catch (cause) {
    if (cause instanceof PolicyError) throw new Error(`PROOF_WITNESSES: ${cause.message}`, { cause });
    throw cause;
  }
}

/** Asks the witnesses of a policy, until the service closes. */
export function openWitnesses(app: FastifyInstance, policy: Policy): WitnessClient {
  const { settings, database, metrics, log, clock, stopping } = app;
  const { pool } = database;
  const client = createWitnessClient({
    policy,
    async proveConsistency(name, oldSize, newSize) {
      const origin = await readOrigin(pool, name);
      if (origin === undefined) throw new Error('no checkpoint of this log was made here');
      return await proveConsistency(oldSize, newSize, readHashesFromTiles(newSize, tileReader(pool, origin)));
    },
    proxy: settings.server,
    timeoutMs: TIMEOUT_MS,
    metrics,
    log,
    now: () => clock.now().getTime(),
    signal: stopping,
  });
  app.addHook('onClose', client.close);
  app.readiness.add({
    name: 'proof witnesses',
    vital: false,
    check: async () => {
      const warning = client.warning();
      return warning === undefined ? { ok: true } : { ok: true, warning };
    },
  });
  return client;
}

/** This service as a witness. @param path file of `PROOF_WITNESS_FOR` @throws {Error} for operators, when it cannot be used */
export async function openWitness(app: FastifyInstance, proofKey: Uint8Array, path: string) {
  const outside = await openPublishedCheckpoints(`${statePath(app.settings)}.witness`);
  // The host is known once the server listens.
  let signer: NoteSigner | undefined;
  return witnessRoutes({
    get signer() {
      signer ??= signerOf(proofKey, `${new URL(app.publicBaseUrl()).hostname}/proof/v1/witness`, WITNESS_KEY);
      return signer;
    },
    logKeys: await readLogKeys(path),
    state: createWitnessState(app.database.pool, outside),
    now: () => Math.floor(app.clock.now().getTime() / 1000),
  });
}
