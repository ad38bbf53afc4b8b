/** The operations of areas on a log: sealing records, queueing their entries, removals, and proofs. */
import { createCipheriv, createDecipheriv, createSecretKey, randomBytes } from 'node:crypto';
import type { Db } from '../database/transaction.ts';
import type { Config } from '../settings/read-config.ts';
import { readSealingKey, type SealingKey, sealingKeyOf } from './keys.ts';
import type { ProofLogName, ProofWriter, ProofWriterOf, Shown } from './proof-log.ts';
import { disclosure, entryOf, entryWithinBudget } from './record.ts';
import { recordRemoval } from './removals.ts';
import { findLeaves, tileReader } from './store/leaves.ts';
import { addToQueue, readOrigins } from './store/logs.ts';
import { proveInclusion } from './tlog/merkle.ts';
import { checkpointIn } from './tlog/note.ts';
import { formatProof } from './tlog/proof-file.ts';
import { readHashesFromTiles } from './tlog/tiles.ts';

const SEED_BYTES = 32;
const IV_BYTES = 12;
const TAG_BYTES = 16;

export function createProofWriters(config: Config): ProofWriterOf {
  const { ended, intervalSeconds } = config.proof;
  const sealingKey = readSealingKey(config.proof);
  if (sealingKey === undefined) return () => undefined;
  const writers = new Map(
    logsOf(config).map((log) => [log, createProofWriter(sealingKeyOf(sealingKey, log), log, intervalSeconds)]),
  );
  return (log, use = 'seal') => (use === 'seal' && ended.some((name) => name === log) ? undefined : writers.get(log));
}

/** The logs of this process: of the interfaces that it serves. */
export function logsOf({ proof, server: { areas } }: Pick<Config, 'proof' | 'server'>): ProofLogName[] {
  const exchanges = areas.includes('shv') || areas.includes('vs');
  const kept: Readonly<Record<ProofLogName, boolean>> = {
    // Area A writes to the processing log, whether or not that is served here.
    verwerkingen: exchanges || areas.includes('verwerkingenlog'),
    leveringen: exchanges,
    raadsfeed: areas.includes('raadsfeed'),
  };
  return proof.key === undefined && proof.sealingKey === undefined ? [] : proof.logs.filter((log) => kept[log]);
}

export function createProofWriter(
  { seeds, removals }: SealingKey,
  log: ProofLogName,
  intervalSeconds = 60,
): ProofWriter {
  // Given bytes, Node prepares the key again for each seed, which costs several times the encryption.
  const seedKey = createSecretKey(seeds);
  return {
    intervalSeconds,
    seal(record) {
      const seed = randomBytes(SEED_BYTES);
      return { seed, entry: entryOf(seed, record) };
    },
    async sealWithinBudget(record) {
      const seed = randomBytes(SEED_BYTES);
      return { seed, entry: await entryWithinBudget(seed, record) };
    },
    encryptSeed(record, seed) {
      const iv = randomBytes(IV_BYTES);
      const cipher = createCipheriv('aes-256-gcm', seedKey, iv).setAAD(Buffer.from(record));
      return Buffer.concat([iv, cipher.update(seed), cipher.final(), cipher.getAuthTag()]).toString('base64');
    },
    decryptSeed(record, stored) {
      const bytes = Buffer.from(stored, 'base64');
      const iv = bytes.subarray(0, IV_BYTES);
      const decipher = createDecipheriv('aes-256-gcm', seedKey, iv, { authTagLength: TAG_BYTES })
        .setAAD(Buffer.from(record))
        .setAuthTag(bytes.subarray(-TAG_BYTES));
      return Buffer.concat([decipher.update(bytes.subarray(IV_BYTES, -TAG_BYTES)), decipher.final()]);
    },
    append: (db, entries) => addToQueue(db, log, entries),
    remove: (db, removal) => recordRemoval(db, removals, log, removal),
    prove: (db, shown) => prove(db, log, shown),
  };
}

async function prove(db: Db, log: ProofLogName, { record, seed, number, shown }: Shown): Promise<string | undefined> {
  const place = (await findLeaves(db, log, [number])).get(number);
  const origin = (await readOrigins(db, log)).find((one) => one.number === place?.origin);
  if (place === undefined || origin === undefined || origin.checkpoint === null) return undefined;
  const { checkpoint } = origin;
  const { size } = checkpointIn(checkpoint);
  const { index } = place;
  if (index >= size) return undefined;
  const hashes = await proveInclusion(index, size, readHashesFromTiles(size, tileReader(db, origin)));
  return formatProof({ extra: await disclosure(seed, record, shown), index, hashes, checkpoint });
}
