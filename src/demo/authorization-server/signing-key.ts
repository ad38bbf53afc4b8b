import { join } from 'node:path';
import { calculateJwkThumbprint, exportJWK, generateKeyPair, type JWK } from 'jose';
import { readKept, writeKept } from './kept-file.ts';

/**
 * The private key (ES256) that signs the tokens, kept in a directory: tokens stay valid when the server starts again.
 *
 * @throws {Error} when the file is there but holds no such key
 */
export async function loadSigningKey(directory: string): Promise<JWK> {
  const path = join(directory, 'signing-key.json');
  const kept = await readKept(path);
  if (kept !== undefined) {
    if (!isSigningKey(kept)) throw new Error(`${path} holds no ES256 key; remove it to have it made anew`);
    return kept;
  }
  const { privateKey } = await generateKeyPair('ES256', { extractable: true });
  const key = await exportJWK(privateKey);
  const made = { ...key, kid: await calculateJwkThumbprint(key), alg: 'ES256', use: 'sig' };
  await writeKept(path, made);
  return made;
}

function isSigningKey(value: unknown): value is JWK {
  if (typeof value !== 'object' || value === null) return false;
  const texts = 'kid' in value && typeof value.kid === 'string' && 'd' in value && typeof value.d === 'string';
  return texts && 'crv' in value && value.crv === 'P-256';
}
