import type { JWK } from 'jose';

/** A client of the authorization server: it proves itself with a secret (basic) or with a key (`private_key_jwt`). */
export type AuthorizationClient = { id: string; scopes: readonly string[] } & (
  | { secret: string }
  | { publicKeys: readonly JWK[] }
);
