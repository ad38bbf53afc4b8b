/**
 * The keys of the proof logs. `PROOF_KEY` signs, and everything follows from it. The sealing key is the part of it that writers need: it seals
 * entries, encrypts seeds and writes removals down, and no signature can be made with it.
 */
import { createHmac } from 'node:crypto';
import type { Db } from '../../database/transaction.ts';
import { createSigner, decodeBase64 } from '../../lib/tlog/note.ts';
import { PROOF_LOGS, type ProofLogName } from '../../seams/proof-log.ts';
import type { ConfigFault } from '../../settings/read-config.ts';
import { deriveSeed } from './record.ts';
import { insertKeyCheck, readKeyCheck } from './store/key-check.ts';
import { readOrigins } from './store/logs.ts';

const KEY_BYTES = 32;

/** What a writer of one log needs. */
export interface SealingKey {
  /** Encrypts seeds. */
  readonly seeds: Uint8Array;
  /** Seals removals. */
  readonly removals: Uint8Array;
}

/** No origin and no name of a witness has a colon, so no signing key is derived from these texts. */
const PURPOSES = ['zaden', 'verwijderingen'] as const;

/** The sealing key of all logs: derived one way, so `PROOF_KEY` does not follow from it. */
export function deriveSealingKey(proofKey: Uint8Array): Uint8Array {
  return Buffer.concat(
    PROOF_LOGS.flatMap((log) => PURPOSES.map((purpose) => deriveSeed(proofKey, `koppelvlak:${purpose}:${log}`))),
  );
}

/** The part of it for one log. */
export function sealingKeyOf(sealingKey: Uint8Array, log: ProofLogName): SealingKey {
  const at = PROOF_LOGS.indexOf(log) * PURPOSES.length * KEY_BYTES;
  return {
    seeds: sealingKey.subarray(at, at + KEY_BYTES),
    removals: sealingKey.subarray(at + KEY_BYTES, at + 2 * KEY_BYTES),
  };
}

/** @throws {TypeError} unless the text is a sealing key */
export function parseSealingKey(text: string): Uint8Array {
  const bytes = decodeBase64(text);
  if (bytes?.length !== PROOF_LOGS.length * PURPOSES.length * KEY_BYTES)
    throw new TypeError('a sealing key is a text as `koppelvlak proof key --sealing` makes it');
  return bytes;
}

/** What is wrong with a key for this database; undefined when it is the one. */
export async function faultOfKey(
  db: Db,
  sealingKey: Uint8Array,
  proofKey?: Uint8Array,
): Promise<Omit<ConfigFault, 'variable'> | undefined> {
  const check = createHmac('sha256', sealingKey).update('koppelvlak:controle').digest('base64');
  const stored = await readKeyCheck(db);
  // Before its migration nothing can be compared.
  if (stored === 'no table') return undefined;
  if (stored === undefined) {
    if (proofKey === undefined)
      return {
        wrong: 'cannot be checked: this database has no check value of PROOF_KEY yet',
        allowed: 'a start of the service with PROOF_KEY first, which writes it down',
      };
    const begun = await originsOf(db);
    if (begun.some(({ origin, verifierKey }) => keyOf(proofKey, origin) !== verifierKey)) return OTHER;
    await insertKeyCheck(db, check);
  }
  // Read again: of two that are first with different keys, one decides.
  return (stored ?? (await readKeyCheck(db))) === check ? undefined : OTHER;
}

const OTHER = {
  wrong: 'is another key than the proof logs of this database were begun with',
  allowed: 'the key that they were begun with; it never changes',
};

function keyOf(proofKey: Uint8Array, origin: string): string {
  return createSigner(origin, deriveSeed(proofKey, origin)).key.text;
}

async function originsOf(db: Db) {
  const logs: Awaited<ReturnType<typeof readOrigins>>[] = [];
  for (const log of PROOF_LOGS) logs.push(await readOrigins(db, log));
  return logs.flat();
}
