/**
 * The folder of evidence: `SHA256SUMS` lists every file with its digest, in the format of `sha256sum --check`, and
 * `SHA256SUMS.sig` may sign it (Ed25519, 64 bytes).
 */
import { createPrivateKey, createPublicKey, hash, type KeyObject, sign, verify } from 'node:crypto';
import { existsSync, lstatSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { lacking } from './report.ts';

export const DIGESTS = 'SHA256SUMS';
export const SIGNATURE = 'SHA256SUMS.sig';

export function digestOf(path: string): string {
  return hash('sha256', readFileSync(path));
}

export function writeJson(folder: string, name: string, value: unknown): void {
  writeFileSync(join(folder, name), `${JSON.stringify(value, null, 2)}\n`);
}

/** @throws {Error} naming the file when it is missing or not JSON */
export function readJson(folder: string, name: string): unknown {
  try {
    return JSON.parse(readFileSync(join(folder, name), 'utf8'));
  } catch (error) {
    throw new Error(`${name} cannot be read as JSON: ${error instanceof Error ? error.message : String(error)}`);
  }
}

/** Writes the digests of all files in the folder, and signs them when given a key. */
export function writeDigests(folder: string, key?: KeyObject): void {
  const text = filesOf(folder)
    .map((name) => `${digestOf(join(folder, name))}  ${name}\n`)
    .join('');
  writeFileSync(join(folder, DIGESTS), text);
  if (key !== undefined) writeFileSync(join(folder, SIGNATURE), sign(null, Buffer.from(text), key));
}

/** Digest faults: each changed, missing or added file by name. */
export function faultsOfDigests(folder: string, required: readonly string[]): string[] {
  // A link's target may change, and a pipe never ends.
  const special = readdirSync(folder).filter((name) => !lstatSync(join(folder, name)).isFile());
  if (special.length > 0) return special.map((name) => `${name} is not a plain file`);
  if (!existsSync(join(folder, DIGESTS))) return [`${DIGESTS} is missing`];
  const listed = new Map<string, string>();
  const faults: string[] = [];
  for (const line of readFileSync(join(folder, DIGESTS), 'utf8').split('\n').slice(0, -1)) {
    const [, digest, name] = /^([0-9a-f]{64}) {2}([\w.-]+)$/.exec(line) ?? [];
    if (digest === undefined || name === undefined || listed.has(name))
      faults.push(`${DIGESTS} has a bad line: ${line}`);
    else listed.set(name, digest);
  }
  const present = filesOf(folder);
  for (const name of present) {
    const digest = listed.get(name);
    if (digest === undefined) faults.push(`${name} was added: ${DIGESTS} does not name it`);
    else if (digest !== digestOf(join(folder, name))) faults.push(`${name} was changed: its digest differs`);
  }
  return [...faults, ...lacking([...listed.keys(), ...required], present).map((name) => `${name} is missing`)];
}

/** Signature faults, by the public key of the releaser. */
export function faultsOfSignature(folder: string, key: KeyObject): string[] {
  if (!existsSync(join(folder, SIGNATURE))) return [`${SIGNATURE} is missing: the evidence is not signed`];
  const isRight = verify(null, readFileSync(join(folder, DIGESTS)), key, readFileSync(join(folder, SIGNATURE)));
  return isRight ? [] : [`${SIGNATURE} is not a signature of ${DIGESTS} by this key`];
}

/**
 * @param file in PEM: a private key to sign with, or a public one to check with
 * @throws {Error} when it is not an Ed25519 key
 */
export function readKey(file: string, kind: 'private' | 'public'): KeyObject {
  const pem = readFileSync(file);
  const key = kind === 'private' ? createPrivateKey(pem) : createPublicKey(pem);
  if (key.asymmetricKeyType === 'ed25519') return key;
  throw new Error(`${file} has a key of kind ${key.asymmetricKeyType}, not ed25519`);
}

/** The files that the digests cover. */
function filesOf(folder: string): string[] {
  return readdirSync(folder)
    .filter((name) => name !== DIGESTS && name !== SIGNATURE)
    .sort();
}
