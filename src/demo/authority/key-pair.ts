import { generateKeyPair, type KeyObject } from 'node:crypto';
import { promisify } from 'node:util';

const generate = promisify(generateKeyPair);

/** A new RSA key, made off the event loop. */
export async function newRsaKey(bits = 2048): Promise<KeyObject> {
  const { privateKey } = await generate('rsa', { modulusLength: bits });
  return privateKey;
}

/** A new key on a curve. */
export async function newEcKey(namedCurve = 'prime256v1'): Promise<KeyObject> {
  const { privateKey } = await generate('ec', { namedCurve });
  return privateKey;
}

export function privatePem(key: KeyObject): string {
  return key.export({ type: 'pkcs8', format: 'pem' }).toString();
}
