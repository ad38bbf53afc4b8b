// The public keys of the token issuer. @see RFC 7517
import { hash } from 'node:crypto';
import { type CryptoKey, createLocalJWKSet, errors, type JSONWebKeySet, type LocalJWKSet } from 'jose';
import type { Clock } from '../clock.ts';
import { isObject } from './claims.ts';
import { discoverKeysUrl } from './discovery.ts';
import { type FetchJson, fetchJson } from './fetch-json.ts';
import { createRemoteKeys } from './remote-keys.ts';
import { TokenError } from './token-error.ts';
import type { KeySource } from './verified-token.ts';
import type { VerifierLog } from './verifier-log.ts';

export type KeySetOptions = {
  issuer: string;
  /** Without it the address comes from the metadata of the issuer. */
  jwksUrl?: string | undefined;
  cacheMs: number;
  clock: Clock;
  log: VerifierLog;
  fetch: FetchJson;
};

/** A key, and the name of the set in which it was found: another one as soon as a key is withdrawn or added. */
export type FoundKey = { key: CryptoKey; set: string };

/** As a source of keys it holds what was verified for as long as the issuer publishes the very same keys. */
export type KeySet = KeySource & {
  /**
   * The key that a token names.
   *
   * @throws {TokenError} `invalid` when the issuer has no such key, `unavailable` when no key was ever fetched
   */
  find(header: { alg: string; kid?: string }): Promise<FoundKey>;
  /** When the keys in use were fetched; undefined as long as there are none. */
  fetchedAt(): Date | undefined;
  close(): void;
};

export function createKeySet({ issuer, jwksUrl, cacheMs, clock, log, fetch }: KeySetOptions): KeySet {
  const remote = createRemoteKeys({
    cacheMs,
    clock,
    log,
    of: 'the token issuer',
    async load(signal) {
      const how = { fetch, signal };
      const url = jwksUrl === undefined ? await discoverKeysUrl(issuer, how) : new URL(jwksUrl);
      const document = await fetchJson(url, how);
      if (!isKeySet(document)) throw new Error(`${url.href} is not a JSON Web Key Set`);
      return { pick: createLocalJWKSet(document), name: fingerprintOf(document) };
    },
  });
  return {
    async find(header) {
      const calledAt = clock.now().getTime();
      await remote.freshen();
      const keys = remote.latest();
      if (keys === undefined) throw new TokenError('unavailable', 'keys-unavailable');
      const known = await pick(keys, header);
      if (known !== undefined) return known;
      await remote.refreshForUnknown(calledAt);
      const found = await pick(remote.latest() ?? keys, header);
      if (found === undefined) throw new TokenError('invalid', 'unknown-key');
      return found;
    },
    holds: (set) => set === remote.latest()?.name,
    isFresh: remote.isFresh,
    freshen: remote.freshen,
    fetchedAt: remote.fetchedAt,
    close: remote.close,
  };
}

/** Two answers with the same keys have the same fingerprint, in whatever order they stand. */
function fingerprintOf({ keys }: JSONWebKeySet): string {
  return hash(
    'sha256',
    keys
      .map((key) => JSON.stringify(key))
      .toSorted()
      .join('\n'),
    'base64url',
  );
}

function isKeySet(value: unknown): value is JSONWebKeySet {
  return isObject(value) && Array.isArray(value.keys) && value.keys.every(isObject);
}

async function pick(
  set: { pick: LocalJWKSet; name: string },
  header: { alg: string; kid?: string },
): Promise<FoundKey | undefined> {
  try {
    return { key: await set.pick(header), set: set.name };
  } catch (cause) {
    if (cause instanceof errors.JWKSNoMatchingKey) return undefined;
    throw new TokenError('invalid', 'unknown-key', { cause });
  }
}
