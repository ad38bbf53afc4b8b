/** The keys of the proof logs, all derived from `PROOF_KEY`. The sealing key is the part for writers, and cannot sign. */
import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';
import type { Db } from '../database/transaction.ts';
import { type Config, ConfigError, type ConfigFault } from '../settings/read-config.ts';
import { PROOF_LOGS, type ProofLogName } from './proof-log.ts';
import { readOrigins } from './store/logs.ts';
import { createSigner, decodeBase64, type NoteSigner, type WITNESS_KEY } from './tlog/note.ts';

const KEY_BYTES = 32;

export interface SealingKey {
  readonly seeds: Uint8Array;
  readonly removals: Uint8Array;
}

/** No origin and no witness name has a colon, so no signing key is derived from these texts. */
const PURPOSES = ['zaden', 'verwijderingen'] as const;

/** HKDF-SHA-256 of RFC 5869, without salt. @param purpose the origin of a log, or the name of a witness */
export function deriveSeed(proofKey: Uint8Array, purpose: string): Uint8Array {
  if (proofKey.length !== KEY_BYTES) throw new TypeError(`the key of the proofs has ${KEY_BYTES} bytes`);
  return new Uint8Array(hkdfSync('sha256', proofKey, '', purpose, KEY_BYTES));
}

/** Signs as a log or, with that type, as a witness. @param name the origin of the log, or the name of the witness */
export function signerOf(proofKey: Uint8Array, name: string, type?: typeof WITNESS_KEY): NoteSigner {
  return createSigner(name, deriveSeed(proofKey, name), type);
}

/** Of all logs, derived one way: `PROOF_KEY` does not follow from it. */
export function deriveSealingKey(proofKey: Uint8Array): Uint8Array {
  return Buffer.concat(
    PROOF_LOGS.flatMap((log) => PURPOSES.map((purpose) => deriveSeed(proofKey, `koppelvlak:${purpose}:${log}`))),
  );
}

export function sealingKeyOf(sealingKey: Uint8Array, log: ProofLogName): SealingKey {
  const at = PROOF_LOGS.indexOf(log) * PURPOSES.length * KEY_BYTES;
  return {
    seeds: sealingKey.subarray(at, at + KEY_BYTES),
    removals: sealingKey.subarray(at + KEY_BYTES, at + 2 * KEY_BYTES),
  };
}

export function parseSealingKey(text: string): Uint8Array {
  const bytes = decodeBase64(text);
  if (bytes?.length !== PROOF_LOGS.length * PURPOSES.length * KEY_BYTES)
    throw new TypeError('a sealing key is the output of `koppelvlak proof key --sealing`');
  return bytes;
}

export function proofKeyOf({ key }: Pick<Config['proof'], 'key'>): Uint8Array | undefined {
  return key === undefined ? undefined : Buffer.from(key, 'base64');
}

/** The configured sealing key; undefined without any key. @throws {ConfigError} when both keys are set and do not belong together */
export function readSealingKey(proof: Pick<Config['proof'], 'key' | 'sealingKey'>): Uint8Array | undefined {
  const proofKey = proofKeyOf(proof);
  const derived = proofKey && deriveSealingKey(proofKey);
  const own = proof.sealingKey === undefined ? undefined : parseSealingKey(proof.sealingKey);
  if (derived !== undefined && own !== undefined && !timingSafeEqual(derived, own))
    throw new ConfigError([
      {
        variable: 'PROOF_SEALING_KEY',
        wrong: 'does not follow from PROOF_KEY',
        allowed: 'the output of `koppelvlak proof key --sealing` with this PROOF_KEY, or neither',
      },
    ]);
  return derived ?? own;
}

/** Compares the keys with those that started the logs here; the first use stores a check value. @throws {ConfigError} that names the setting */
export async function requireRightKey(db: Db, { proof }: Pick<Config, 'proof'>): Promise<void> {
  const sealingKey = readSealingKey(proof);
  const wrong = sealingKey && (await faultOfKey(db, sealingKey, proofKeyOf(proof)));
  const variable = proof.key === undefined ? 'PROOF_SEALING_KEY' : 'PROOF_KEY';
  if (wrong !== undefined) throw new ConfigError([{ variable, ...wrong }]);
}

const OTHER_KEY = {
  wrong: 'is not the key that the proof logs of this database were started with',
  allowed: 'the key that they were started with; it never changes',
};

export async function faultOfKey(
  db: Db,
  sealingKey: Uint8Array,
  proofKey?: Uint8Array,
): Promise<Omit<ConfigFault, 'variable'> | undefined> {
  const check = createHmac('sha256', sealingKey).update('koppelvlak:controle').digest('base64');
  // Nothing can be compared before its migration.
  const { rows } = await db.query<{ there: boolean }>(`select to_regclass('proof.key_check') is not null as there`);
  if (rows[0]?.there !== true) return undefined;
  const stored = await readKeyCheck(db);
  if (stored !== undefined) return stored === check ? undefined : OTHER_KEY;
  if (proofKey === undefined)
    return {
      wrong: 'cannot be checked: this database has no check value of PROOF_KEY yet',
      allowed: 'a start of the service with PROOF_KEY first, which stores it',
    };
  for (const log of PROOF_LOGS)
    for (const { origin, verifierKey } of await readOrigins(db, log))
      if (signerOf(proofKey, origin).key.text !== verifierKey) return OTHER_KEY;
  await db.query('insert into proof.key_check (check_value) values ($1::text) on conflict do nothing', [check]);
  // When two processes start with different keys, the first decides.
  return (await readKeyCheck(db)) === check ? undefined : OTHER_KEY;
}

async function readKeyCheck(db: Db): Promise<string | undefined> {
  const { rows } = await db.query<{ check: string }>('select check_value as check from proof.key_check');
  return rows[0]?.check;
}
