import { randomBytes, randomUUID } from 'node:crypto';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { calculateJwkThumbprint, exportJWK, generateKeyPair, type JWK } from 'jose';

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
 * The private key (ES256) that signs the tokens, saved in a directory: tokens stay valid when the server starts again.
 *
 * @throws {Error} when the file is there but holds no such key
 */
export async function loadSigningKey(directory: string): Promise<JWK> {
  const path = join(directory, 'signing-key.json');
  const saved = await readSavedJson(path);
  if (saved !== undefined) {
    if (!isSigningKey(saved)) throw new Error(`${path} holds no ES256 key; remove it to have it made anew`);
    return saved;
  }
  const { privateKey } = await generateKeyPair('ES256', { extractable: true });
  const key = await exportJWK(privateKey);
  const made = { ...key, kid: await calculateJwkThumbprint(key), alg: 'ES256', use: 'sig' };
  await saveJson(path, made);
  return made;
}

/** 32 random bytes in base64 for the service, saved in a directory under this name. */
export async function loadServiceKey(directory: string, name: string): Promise<string> {
  const path = join(directory, `${name}.json`);
  const saved = await readSavedJson(path);
  if (typeof saved === 'string') return saved;
  const made = randomBytes(32).toString('base64');
  await saveJson(path, made);
  return made;
}

function isSigningKey(value: unknown): value is JWK {
  if (typeof value !== 'object' || value === null) return false;
  const texts = 'kid' in value && typeof value.kid === 'string' && 'd' in value && typeof value.d === 'string';
  return texts && 'crv' in value && value.crv === 'P-256';
}

/** A client of the authorization server: it proves itself with a secret (basic) or with a key (`private_key_jwt`). */
export type AuthorizationClient = { id: string; scopes: readonly string[] } & (
  | { secret: string }
  | { publicKeys: readonly JWK[] }
);

/** Every scope of the areas that ask for a token: the data exchange (`read`), then the processing log. */
const readScope = 'read';

const processingLogScopes = [
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
] as const;

export const allScopes: readonly string[] = [readScope, ...processingLogScopes];

/** What each client of the demo may do. */
const scopesOfClient = {
  statistiek: [readScope],
  applicatie: ['create:normal', 'read:normal', 'update:normal', 'delete:normal'],
  onderzoek: ['create:confidential', 'read:confidential', 'update:confidential', 'delete:confidential'],
  'privacy-officer': processingLogScopes,
  inzage: ['read:restricted'],
  niemand: [],
} as const satisfies Record<string, readonly string[]>;

/** A client of the demo, with the secret that its owner uses. */
type DemoClient = AuthorizationClient & { secret: string };

/** The clients of the demo. Their secrets are made at random and saved in the directory, readable by its owner only. */
export async function loadDemoClients(directory: string): Promise<DemoClient[]> {
  const path = join(directory, 'clients.json');
  const saved = await readSavedJson(path);
  const secrets = new Map(typeof saved === 'object' && saved !== null ? Object.entries(saved) : []);
  let changed = false;
  const clients = Object.entries(scopesOfClient).map(([id, scopes]) => {
    const known: unknown = secrets.get(id);
    if (typeof known === 'string' && known.length >= 32) return { id, scopes, secret: known };
    changed = true;
    return { id, scopes, secret: randomBytes(32).toString('base64url') };
  });
  if (changed) await saveJson(path, Object.fromEntries(clients.map(({ id, secret }) => [id, secret])));
  return clients;
}

/** What the pages for citizens have in secret: with the stand-in for the national login, and in their cookies. */
interface InspectionSecrets {
  readonly clientSecret: string;
  /** Base64 of 32 bytes. */
  readonly sessionKey: string;
}

/** These secrets, made at random and saved in the directory like those of the clients. */
export async function loadInspectionSecrets(directory: string): Promise<InspectionSecrets> {
  const path = join(directory, 'inspection.json');
  const saved = await readSavedJson(path);
  if (typeof saved === 'object' && saved !== null && 'clientSecret' in saved && 'sessionKey' in saved) {
    const { clientSecret, sessionKey } = saved;
    if (typeof clientSecret === 'string' && typeof sessionKey === 'string') return { clientSecret, sessionKey };
  }
  const made = {
    clientSecret: randomBytes(32).toString('base64url'),
    sessionKey: randomBytes(32).toString('base64'),
  };
  await saveJson(path, made);
  return made;
}
