/** The keys and clients of the demo, saved so that tokens outlive a restart. */
import { join } from 'node:path';
import { calculateJwkThumbprint, exportJWK, generateKeyPair, type JWK } from 'jose';
import { isRecord } from '../lib/json/json-value.ts';
import { PROCESSING_LOG_SCOPES } from '../lib/processing-log-scopes.ts';
import { loadSecret, readSavedJson, saveJson } from '../lib/saved-secrets.ts';

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

/** A client of the authorization server: it authenticates with a secret (basic) or with a key (`private_key_jwt`). */
export type AuthorizationClient = { readonly id: string; readonly scopes: readonly string[] } & (
  | { readonly secret: string }
  | { readonly publicKeys: readonly JWK[] }
);

const SCOPES_OF_CLIENT: Readonly<Record<string, readonly string[]>> = {
  statistiek: ['read'],
  applicatie: ['create:normal', 'read:normal', 'update:normal', 'delete:normal'],
  onderzoek: ['create:confidential', 'read:confidential', 'update:confidential', 'delete:confidential'],
  'privacy-officer': PROCESSING_LOG_SCOPES,
  inzage: ['read:restricted'],
  niemand: [],
};

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
