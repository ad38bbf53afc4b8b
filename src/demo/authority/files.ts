// The authority's files: what is there is used again, what is missing is made.
import { createPrivateKey, generateKeyPair, type KeyObject, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { normaliseSerial } from './ocsp.ts';

interface AuthorityFiles {
  readonly root: string;
  readonly rootKey: string;
  readonly intermediate: string;
  readonly intermediateKey: string;
  readonly responderKey: string;
  readonly revoked: string;
  readonly addresses: string;
  readonly requester: PartyFiles;
  readonly supplier: PartyFiles;
}

export interface PartyFiles {
  readonly key: string;
  /** The certificate and the intermediate. */
  readonly chain: string;
  readonly certificate: string;
}

export function authorityFiles(dir: string): AuthorityFiles {
  const file = (name: string): string => join(dir, name);
  const party = (name: string): PartyFiles => ({
    key: file(`${name}-key.pem`),
    chain: file(`${name}-chain.pem`),
    certificate: file(`${name}.pem`),
  });
  return {
    root: file('root.pem'),
    rootKey: file('root-key.pem'),
    intermediate: file('intermediate.pem'),
    intermediateKey: file('intermediate-key.pem'),
    responderKey: file('responder-key.pem'),
    revoked: file('revoked.txt'),
    addresses: file('addresses.txt'),
    requester: party('requester'),
    supplier: party('supplier'),
  };
}

/** The text of a file, or undefined when there is none. */
export async function readText(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
}

/** The key in the file; a new one, readable by its owner only, when there is none. */
export async function keepKey(path: string): Promise<KeyObject> {
  const kept = await readText(path);
  if (kept !== undefined) return createPrivateKey(kept);
  const key = await newRsaKey();
  await writeFile(path, privatePem(key), { mode: 0o600 });
  return key;
}

/** The certificate in the file when it is still good; else the one that `mint` makes. */
export async function keepCertificate(
  path: string,
  isGood: (certificate: X509Certificate) => boolean,
  mint: () => X509Certificate,
): Promise<X509Certificate> {
  const kept = await readText(path);
  if (kept !== undefined) {
    const certificate = new X509Certificate(kept);
    if (isGood(certificate)) return certificate;
  }
  const certificate = mint();
  await writeFile(path, certificate.toString());
  return certificate;
}

/** The serial numbers in the list of revoked ones, read anew; lines that begin with # are remarks. */
export function readRevoked(path: string): string[] {
  return readFileSync(path, 'utf8')
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map(normaliseSerial);
}

const generate = promisify(generateKeyPair);

/** A new RSA key, made off the event loop. */
async function newRsaKey(bits = 2048): Promise<KeyObject> {
  const { privateKey } = await generate('rsa', { modulusLength: bits });
  return privateKey;
}

function privatePem(key: KeyObject): string {
  return key.export({ type: 'pkcs8', format: 'pem' }).toString();
}
