/** What areas do with a log: sealing records, queueing their entries, removals, and proofs. */
import { createCipheriv, createDecipheriv, createSecretKey, randomBytes } from 'node:crypto';
import type { Db } from '../../database/transaction.ts';
import { canonicalJson } from '../../lib/json/canonical-json.ts';
import { parseCheckpoint } from '../../lib/tlog/checkpoint.ts';
import { proveInclusion } from '../../lib/tlog/merkle.ts';
import { splitNote } from '../../lib/tlog/note.ts';
import { formatProof } from '../../lib/tlog/proof-file.ts';
import { readHashesFromTiles } from '../../lib/tlog/tiles.ts';
import type { ProofLogName, ProofWriter, ProofWriters, Removal, Shown } from '../../seams/proof-log.ts';
import type { Config } from '../../settings/read-config.ts';
import { readSealingKey } from './key-settings.ts';
import { deriveSealingKey, type SealingKey, sealingKeyOf } from './keys.ts';
import { disclosure, encodeDisclosure, entryOf, entryWithinBudget, partSalt } from './record.ts';
import { findLeaves, tileReader } from './store/leaves.ts';
import { addToQueue, headerLeaves, readOrigins, type StoredLog } from './store/logs.ts';
import { insertRemoval, nextRemovalNumber } from './store/removals.ts';

const SEED_BYTES = 32;
const IV_BYTES = 12;
const TAG_BYTES = 16;

/** The writers of the logs that the configuration switches on. */
export function createProofWriters(config: Config): ProofWriters {
  const sealingKey = readSealingKey(config.proof);
  if (sealingKey === undefined) return () => undefined;
  const writers = new Map(
    logsOf(config).map((log) => [
      log,
      createProofWriter(sealingKeyOf(sealingKey, log), log, config.proof.intervalSeconds),
    ]),
  );
  const { ended } = config.proof;
  return (log, use = 'seal') => (use === 'seal' && ended.some((name) => name === log) ? undefined : writers.get(log));
}

/** The logs that this process keeps: of the interfaces that it serves. */
export function logsOf({ proof, server: { areas } }: Pick<Config, 'proof' | 'server'>): ProofLogName[] {
  const exchanges = areas.includes('shv') || areas.includes('vs');
  const kept: Readonly<Record<ProofLogName, boolean>> = {
    // Area A writes to the log of processing, whether that is served here or not.
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
  // From bytes the key would be prepared anew for each seed, which takes several times as long as encrypting it.
  const seedKey = createSecretKey(seeds);
  return {
    intervalSeconds,
    seal(record) {
      const seed = nextSeed();
      return { seed, entry: entryOf(seed, record) };
    },
    async sealWithinBudget(record) {
      const seed = nextSeed();
      return { seed, entry: await entryWithinBudget(seed, record) };
    },
    entryOf: (record, seed) => entryOf(seed, record),
    encryptSeed(record, seed) {
      const iv = randomBytes(IV_BYTES);
      const cipher = createCipheriv('aes-256-gcm', seedKey, iv).setAAD(Buffer.from(record));
      return Buffer.concat([iv, cipher.update(seed), cipher.final(), cipher.getAuthTag()]).toString('base64');
    },
    decryptSeed(record, stored) {
      const bytes = Buffer.from(stored, 'base64');
      const decipher = createDecipheriv('aes-256-gcm', seedKey, bytes.subarray(0, IV_BYTES), {
        authTagLength: TAG_BYTES,
      })
        .setAAD(Buffer.from(record))
        .setAuthTag(bytes.subarray(-TAG_BYTES));
      return Buffer.concat([decipher.update(bytes.subarray(IV_BYTES, -TAG_BYTES)), decipher.final()]);
    },
    append: (db, entries) => addToQueue(db, log, entries),
    remove: (db, removal) => remove(db, removals, log, removal),
    prove: (db, shown) => prove(db, log, shown),
  };
}

let randomness = Buffer.alloc(0);

/** Random bytes for many at once: a call for each costs more than what is done with them. */
function nextSeed(): Buffer {
  if (randomness.length < SEED_BYTES) randomness = randomBytes(SEED_BYTES * 256);
  const seed = Buffer.from(randomness.subarray(0, SEED_BYTES));
  randomness = randomness.subarray(SEED_BYTES);
  return seed;
}

/** What a `verwijdering` says: nothing of whom the records were. */
interface RemovalContent {
  readonly soort: string;
  readonly op: string;
  readonly door: string;
  /** Leaf indices, first and last of each run of them, by origin. */
  readonly bladen: readonly (readonly [origin: number, first: number, last: number])[];
  /** Numbers of records that were not sequenced yet. */
  readonly wachtend: readonly number[];
}

/**
 * The entry of a `verwijdering`. Its seed follows from the key: whoever has only the database cannot make one.
 * @param content JSON text, as stored
 */
export function removalEntry(proofKey: Uint8Array, log: ProofLogName, number: number, content: string): Uint8Array {
  return sealRemoval(sealingKeyOf(deriveSealingKey(proofKey), log).removals, number, content);
}

function sealRemoval(key: Uint8Array, number: number, content: string): Uint8Array {
  const seed = partSalt(key, String(number));
  return entryOf(seed, { parts: [['verwijdering', JSON.parse(content)]] });
}

async function remove(db: Db, key: Uint8Array, log: ProofLogName, removal: Removal): Promise<void> {
  if (removal.numbers.length === 0) return;
  const origins = await readOrigins(db, log);
  const places =
    log === 'raadsfeed'
      ? removal.numbers.flatMap((number) => {
          const place = feedPlace(origins, number);
          return place === undefined ? [] : [{ number, ...place }];
        })
      : await findLeaves(db, log, removal.numbers);
  const placed = new Set(places.map(({ number }) => number));
  const content: RemovalContent = {
    soort: removal.kind,
    op: removal.at.toISOString(),
    door: removal.by,
    bladen: runsOf(places),
    wachtend: removal.numbers.filter((number) => !placed.has(number)).sort((a, b) => a - b),
  };
  const number = await nextRemovalNumber(db);
  const text = canonicalJson(content);
  const entry = sealRemoval(key, number, text);
  await insertRemoval(db, { log, number, content: text, entry });
  if (log !== 'raadsfeed') await addToQueue(db, log, [{ number, entry }]);
}

/** In order of index: that says nothing of which leaves belonged together. */
function runsOf(places: readonly { readonly origin: number; readonly index: number }[]): RemovalContent['bladen'] {
  const runs: [number, number, number][] = [];
  for (const { origin, index } of [...places].sort((a, b) => a.origin - b.origin || a.index - b.index)) {
    const last = runs.at(-1);
    if (last !== undefined && last[0] === origin && last[2] === index - 1) last[2] = index;
    else runs.push([origin, index, index]);
  }
  return runs;
}

/** Where a number of the feed is, or will be. */
export function feedPlace(
  origins: readonly StoredLog[],
  number: number,
): { readonly origin: number; readonly index: number } | undefined {
  const log = origins.findLast(({ firstNumber }) => firstNumber <= number);
  return log === undefined ? undefined : { origin: log.number, index: number - log.firstNumber + headerLeaves(log) };
}

async function prove(db: Db, log: ProofLogName, { record, seed, number, shown }: Shown): Promise<string | undefined> {
  const origins = await readOrigins(db, log);
  const place = log === 'raadsfeed' ? feedPlace(origins, number) : (await findLeaves(db, log, [number]))[0];
  const origin = origins.find((one) => one.number === place?.origin);
  if (place === undefined || origin === undefined || origin.checkpoint === null) return undefined;
  const { size } = parseCheckpoint(splitNote(origin.checkpoint).text);
  if (place.index >= size) return undefined;
  const read = readHashesFromTiles(size, tileReader(db, origin));
  return formatProof({
    extra: encodeDisclosure(await disclosure(seed, record, shown)),
    index: place.index,
    hashes: await proveInclusion(place.index, size, read),
    checkpoint: origin.checkpoint,
  });
}
