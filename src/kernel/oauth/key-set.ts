// The public keys of the token issuer (RFC 7517), and where its metadata says they are (RFC 8414 section 3, OpenID Connect Discovery 1.0
// section 4).
import { hash } from 'node:crypto';
import { type CryptoKey, createLocalJWKSet, errors, type JSONWebKeySet, type LocalJWKSet } from 'jose';
import type { Clock } from '../clock.ts';
import { isRecord } from '../is-record.ts';
import type { KeySource } from './caller.ts';
import { createRemoteKeys, type FetchJson, type FetchJsonOptions, fetchJson, type VerifierLog } from './remote-keys.ts';
import { TokenError } from './token-error.ts';

type KeySetOptions = {
  issuer: string;
  /** Without it the address comes from the metadata of the issuer. */
  jwksUrl?: string | undefined;
  cacheMs: number;
  clock: Clock;
  log: VerifierLog;
  fetch: FetchJson;
};

/** A key, and the name of the set in which it was found: another one as soon as a key is withdrawn or added. */
type FoundKey = { key: CryptoKey; set: string };

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
  return isRecord(value) && Array.isArray(value.keys) && value.keys.every(isRecord);
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

/**
 * The address of an issuer's key set, from its metadata.
 *
 * @throws {AggregateError} when neither form of metadata can be used, with the cause of each
 */
async function discoverKeysUrl(issuer: string, options: FetchJsonOptions): Promise<URL> {
  const failures: unknown[] = [];
  for (const url of metadataUrls(issuer)) {
    try {
      return keysUrl(await fetchJson(url, options), issuer, url);
    } catch (error) {
      options.signal.throwIfAborted();
      failures.push(error);
    }
  }
  throw new AggregateError(
    failures,
    `no usable metadata of the issuer ${issuer}: ${failures.map(messageOf).join('; ')}`,
  );
}

/** RFC 8414 puts the well-known part before the path of the issuer, OpenID Connect behind it. */
function metadataUrls(issuer: string): URL[] {
  const { origin, pathname } = new URL(issuer);
  const path = pathname.replace(/\/$/, '');
  return [
    new URL(`${origin}/.well-known/oauth-authorization-server${path}`),
    new URL(`${origin}${path}/.well-known/openid-configuration`),
  ];
}

function keysUrl(metadata: unknown, issuer: string, source: URL): URL {
  if (!isRecord(metadata)) throw new Error(`${source.href} is not a JSON object`);
  // RFC 8414 section 3.3: or one issuer could hand out the keys of another.
  if (metadata.issuer !== issuer) throw new Error(`${source.href} is metadata of another issuer`);
  const address = metadata.jwks_uri;
  const url = typeof address === 'string' ? URL.parse(address) : null;
  if (url === null || !['http:', 'https:'].includes(url.protocol))
    throw new Error(`${source.href} has no usable jwks_uri`);
  if (source.protocol === 'https:' && url.protocol !== 'https:')
    throw new Error(`${source.href} names a jwks_uri without TLS`);
  return url;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
