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
    throw new Error(`${path} is not JSON; remove it to have it made anew`, { cause });
  }
}

/** Writes a file that only its owner may read, in one step: a crash leaves the old one or the new one. */
export async function saveJson(path: string, value: unknown): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const draft = `${path}.${randomUUID()}`;
  await writeFile(draft, `${JSON.stringify(value, null, 2)}\n`, { mode: 0o600, flag: 'wx' });
  await rename(draft, path);
}

/**
 * The private key (ES256) that signs the tokens.
 * @throws {Error} when the file is there but holds no such key
 */
export async function loadSigningKey(directory: string): Promise<JWK> {
  const path = join(directory, 'signing-key.json');
  const saved = await readSavedJson(path);
  if (isRecord(saved)) {
    const { kid, d, crv } = saved;
    if (typeof kid === 'string' && typeof d === 'string' && crv === 'P-256') return saved;
  }
  if (saved !== undefined) throw new Error(`${path} holds no ES256 key; remove it to have it made anew`);
  const { privateKey } = await generateKeyPair('ES256', { extractable: true });
  const key = await exportJWK(privateKey);
  const made = { ...key, kid: await calculateJwkThumbprint(key), alg: 'ES256', use: 'sig' };
  await saveJson(path, made);
  return made;
}

/** Texts of 32 random bytes by name; those that the file lacks are made. */
async function loadSecrets(
  path: string,
  encodings: Readonly<Record<string, 'base64' | 'base64url'>>,
): Promise<Record<string, string>> {
  const saved = await readSavedJson(path);
  const known = isRecord(saved) ? saved : {};
  const secrets = Object.entries(encodings).map(([name, encoding]) => {
    const text = known[name];
    return [name, typeof text === 'string' && text.length >= 32 ? text : randomBytes(32).toString(encoding)] as const;
  });
  if (secrets.some(([name, text]) => known[name] !== text)) await saveJson(path, Object.fromEntries(secrets));
  return Object.fromEntries(secrets);
}

/** 32 random bytes in base64 for the service, saved under this name. */
export async function loadServiceKey(directory: string, name: string): Promise<string> {
  const path = join(directory, `${name}.json`);
  const saved = await readSavedJson(path);
  if (typeof saved === 'string') return saved;
  const made = randomBytes(32).toString('base64');
  await saveJson(path, made);
  return made;
}

/** What the pages for citizens have in secret: with the stand-in for the national login, and in their cookies. */
interface InspectionSecrets {
  readonly clientSecret: string;
  readonly sessionKey: string;
}

export async function loadInspectionSecrets(directory: string): Promise<InspectionSecrets> {
  const encodings = { clientSecret: 'base64url', sessionKey: 'base64' } as const;
  const { clientSecret = '', sessionKey = '' } = await loadSecrets(join(directory, 'inspection.json'), encodings);
  return { clientSecret, sessionKey };
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

/** Every scope of the areas that ask for a token: the data exchange (`read`), then the processing log. */
export const ALL_SCOPES: readonly string[] = ['read', ...PROCESSING_LOG_SCOPES];

/** What each client of the demo may do. */
const SCOPES_OF_CLIENT: Readonly<Record<string, readonly string[]>> = {
  statistiek: ['read'],
  applicatie: ['create:normal', 'read:normal', 'update:normal', 'delete:normal'],
  onderzoek: ['create:confidential', 'read:confidential', 'update:confidential', 'delete:confidential'],
  'privacy-officer': PROCESSING_LOG_SCOPES,
  inzage: ['read:restricted'],
  niemand: [],
};

/** A client of the demo, with the secret that its owner uses. */
type DemoClient = AuthorizationClient & { readonly secret: string };

export async function loadDemoClients(directory: string): Promise<DemoClient[]> {
  const names = Object.keys(SCOPES_OF_CLIENT).map((id) => [id, 'base64url'] as const);
  const secrets = await loadSecrets(join(directory, 'clients.json'), Object.fromEntries(names));
  return Object.entries(SCOPES_OF_CLIENT).map(([id, scopes]) => ({ id, scopes, secret: secrets[id] ?? '' }));
}
