/** What the demo keeps in its home, so that tokens and sessions outlive a restart: keys and secrets made at random, readable by their owner only. */
import { randomBytes, randomUUID } from 'node:crypto';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { calculateJwkThumbprint, exportJWK, generateKeyPair, type JWK } from 'jose';
import { isRecord } from '../lib/json/json-value.ts';

/** The JSON in a file; undefined when there is no such file. */
export async function readSavedJson(path: string): Promise<unknown> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new Error(`${path} is not JSON; delete it to have a new one made`, { cause });
  }
}

/** Writes a file that only its owner may read, in one step: a crash leaves the old one or the new one. */
export async function saveJson(path: string, value: unknown): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const draft = `${path}.${randomUUID()}`;
  await writeFile(draft, `${JSON.stringify(value, null, 2)}\n`, { mode: 0o600, flag: 'wx' });
  await rename(draft, path);
}

/** The private key (ES256) that signs the tokens. */
export async function loadSigningKey(directory: string): Promise<JWK> {
  const path = join(directory, 'signing-key.json');
  const saved = await readSavedJson(path);
  if (isRecord(saved)) return saved;
  const { privateKey } = await generateKeyPair('ES256', { extractable: true });
  const key = await exportJWK(privateKey);
  const made = { ...key, kid: await calculateJwkThumbprint(key), alg: 'ES256', use: 'sig' };
  await saveJson(path, made);
  return made;
}

/** 32 random bytes as text, saved under this name. */
export async function loadSecret(
  directory: string,
  name: string,
  encoding: 'base64' | 'base64url' = 'base64',
): Promise<string> {
  const path = join(directory, `${name}.json`);
  const saved = await readSavedJson(path);
  if (typeof saved === 'string') return saved;
  const made = randomBytes(32).toString(encoding);
  await saveJson(path, made);
  return made;
}

/** A client of the authorization server: it proves itself with a secret (basic) or with a key (`private_key_jwt`). */
export type AuthorizationClient = { readonly id: string; readonly scopes: readonly string[] } & (
  | { readonly secret: string }
  | { readonly publicKeys: readonly JWK[] }
);

const PROCESSING_LOG_SCOPES = [
  'create:normal',
  'create:confidential',
  'read:restricted',
  'read:normal',
  'read:confidential',
  'update:normal',
  'update:confidential',
  'delete:normal',
  'delete:confidential',
  'register:write',
];

/** What each client of the demo may do. */
const SCOPES_OF_CLIENT: Readonly<Record<string, readonly string[]>> = {
  statistiek: ['read'],
  applicatie: ['create:normal', 'read:normal', 'update:normal', 'delete:normal'],
  onderzoek: ['create:confidential', 'read:confidential', 'update:confidential', 'delete:confidential'],
  'privacy-officer': PROCESSING_LOG_SCOPES,
  inzage: ['read:restricted'],
  niemand: [],
};

/** The clients of the demo, with the secrets that their owners use. */
export async function loadDemoClients(
  directory: string,
): Promise<(AuthorizationClient & { readonly secret: string })[]> {
  return await Promise.all(
    Object.entries(SCOPES_OF_CLIENT).map(async ([id, scopes]) => ({
      id,
      scopes,
      secret: await loadSecret(directory, `client-${id}`, 'base64url'),
    })),
  );
}
