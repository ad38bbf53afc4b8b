/** The keys of the logs of proof as the configuration has them. */
import { timingSafeEqual } from 'node:crypto';
import type { Db } from '../../database/transaction.ts';
import { type Config, ConfigError } from '../../settings/read-config.ts';
import { deriveSealingKey, faultOfKey, parseSealingKey } from './keys.ts';

/**
 * The sealing key of the configuration; undefined without any key.
 * @throws {ConfigError} when it has both keys and they do not belong together
 */
export function readSealingKey({
  key,
  sealingKey,
}: Pick<Config['proof'], 'key' | 'sealingKey'>): Uint8Array | undefined {
  const derived = key === undefined ? undefined : deriveSealingKey(Buffer.from(key, 'base64'));
  const given = sealingKey === undefined ? undefined : parseSealingKey(sealingKey);
  if (derived !== undefined && given !== undefined && !timingSafeEqual(derived, given))
    throw new ConfigError([
      {
        variable: 'PROOF_SEALING_KEY',
        wrong: 'does not follow from PROOF_KEY',
        allowed: 'what `koppelvlak proof key --sealing` prints with this PROOF_KEY, or nothing beside it',
      },
    ]);
  return derived ?? given;
}

/**
 * Compares the keys of the configuration with those that the logs of this database were begun with; at the first use they are written down.
 * @throws {ConfigError} that names the setting
 */
export async function requireRightKey(db: Db, { proof }: Pick<Config, 'proof'>): Promise<void> {
  const sealingKey = readSealingKey(proof);
  if (sealingKey === undefined) return;
  const proofKey = proof.key === undefined ? undefined : Buffer.from(proof.key, 'base64');
  const wrong = await faultOfKey(db, sealingKey, proofKey);
  if (wrong === undefined) return;
  const variable = proofKey === undefined ? 'PROOF_SEALING_KEY' : 'PROOF_KEY';
  throw new ConfigError([{ variable, ...wrong }]);
}
