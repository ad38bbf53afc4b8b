import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import type { JWK } from 'jose';
import { readKept, writeKept } from './keys.ts';

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

/** The clients of the demo. Their secrets are made at random and kept in the directory, readable by its owner only. */
export async function loadDemoClients(directory: string): Promise<DemoClient[]> {
  const path = join(directory, 'clients.json');
  const kept = await readKept(path);
  const secrets = new Map(typeof kept === 'object' && kept !== null ? Object.entries(kept) : []);
  let changed = false;
  const clients = Object.entries(scopesOfClient).map(([id, scopes]) => {
    const known: unknown = secrets.get(id);
    if (typeof known === 'string' && known.length >= 32) return { id, scopes, secret: known };
    changed = true;
    return { id, scopes, secret: randomBytes(32).toString('base64url') };
  });
  if (changed) await writeKept(path, Object.fromEntries(clients.map(({ id, secret }) => [id, secret])));
  return clients;
}
