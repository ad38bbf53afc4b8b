/** Keys that another service publishes: fetched, cached, and served from memory while that service is unavailable. */
import { hash } from 'node:crypto';
import { type CryptoKey, createLocalJWKSet, errors, type JSONWebKeySet, type LocalJWKSet } from 'jose';
import { isRecord } from '../../lib/json/json-value.ts';
import type { FetchJson } from '../../lib/outbound/outbound-client.ts';
import type { Clock } from '../../lib/time.ts';
import { type KeySource, TokenError } from './token.ts';

/** Logs problems with the issuer's keys, never a token. A pino logger fits. */
export type VerifierLog = { warn(fields: object, message: string): void };

/** How a document of the issuer is fetched. */
type FetchJsonOptions = { fetch: FetchJson; signal: AbortSignal };

/** A set of a hundred keys takes less than 100 KB. */
const maxBytes = 262_144;

/**
 * Fetches a JSON document of at most 256 KiB. Redirects are not followed: the address was configured or published.
 *
 * @throws {Error} for any status but 200, a larger document, or one that is not JSON
 */
export async function fetchJson(url: URL, options: FetchJsonOptions): Promise<unknown> {
  const response = await options.fetch(url, {
    headers: { accept: 'application/json' },
    redirect: 'error',
    signal: options.signal,
  });
  if (response.status !== 200) {
    await response.body?.cancel();
    throw new Error(`${url.href} answered ${response.status}`);
  }
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body ?? []) {
    size += chunk.byteLength;
    if (size > maxBytes) throw new Error(`${url.href} is larger than ${maxBytes} bytes`);
    chunks.push(chunk);
  }
  try {
    return JSON.parse(Buffer.concat(chunks).toString('utf8'));
  } catch (cause) {
    throw new Error(`${url.href} is not JSON`, { cause });
  }
}

/** Everything must arrive within this time (ms). */
const timeoutMs = 5_000;
/** Least time between fetches after a failure, or for an unknown key (ms). */
const cooldownMs = 30_000;
/** The same as long as nothing was fetched, when no token can be verified (ms). */
const coldCooldownMs = 1_000;
/** The part of the cache time after which keys are refreshed in the background, so that no request waits. */
const refreshAhead = 0.8;

type RemoteKeysOptions<T> = {
  /** Fetches and reads the keys. */
  load(signal: AbortSignal): Promise<T>;
  /** How long keys are used before they are fetched again, unless their publisher is unavailable (ms). */
  cacheMs: number;
  clock: Clock;
  log: VerifierLog;
  /** Whose keys, for the log. */
  of: string;
};

type RemoteKeys<T> = {
  /** The keys in use; undefined as long as none were ever fetched. */
  latest(): T | undefined;
  /** Whether the keys may be used without `freshen`. */
  isFresh(): boolean;
  /** Resolves when the keys are recent enough; never rejects. */
  freshen(): Promise<void>;
  /** Fetches once more for a key that is not there. @param before the keys in use when it was asked for: newer ones need no other fetch */
  refreshForUnknown(before: T | undefined): Promise<void>;
  fetchedAt(): Date | undefined;
  close(): void;
};

/** Starts fetching at once, so that the first request need not wait. Never throws because of the publisher. */
export function createRemoteKeys<T>(options: RemoteKeysOptions<T>): RemoteKeys<T> {
  const { cacheMs } = options;
  const closed = new AbortController();
  let keys: T | undefined;
  let fetchedAt = Number.NEGATIVE_INFINITY;
  let failedAt = Number.NEGATIVE_INFINITY;
  let unknownAt = Number.NEGATIVE_INFINITY;
  let running: Promise<void> | undefined;
  const now = () => options.clock.now().getTime();
  const age = () => now() - fetchedAt;
  const isUnavailable = () => failedAt > fetchedAt;
  const isCoolingDown = () => now() - failedAt < (keys === undefined ? coldCooldownMs : cooldownMs);

  async function load(): Promise<void> {
    try {
      keys = await options.load(AbortSignal.any([closed.signal, AbortSignal.timeout(timeoutMs)]));
      fetchedAt = now();
      failedAt = Number.NEGATIVE_INFINITY;
    } catch (err) {
      failedAt = now();
      if (!closed.signal.aborted) options.log.warn({ err }, `the keys of ${options.of} could not be fetched`);
    }
  }

  function refresh(): Promise<void> {
    running ??= load().finally(() => {
      running = undefined;
    });
    return running;
  }

  void refresh();
  return {
    latest: () => keys,
    isFresh: () => keys !== undefined && (age() < cacheMs * refreshAhead || (isUnavailable() && isCoolingDown())),
    async freshen() {
      if (age() < cacheMs * refreshAhead || closed.signal.aborted) return;
      if (running === undefined) {
        if (isCoolingDown()) return;
        void refresh();
      }
      // While the publisher is unavailable, callers use the cached keys and do not wait for new attempts.
      if (keys === undefined || (age() >= cacheMs && !isUnavailable())) await running;
    },
    async refreshForUnknown(before) {
      if (running !== undefined) return running;
      if (keys !== before || now() - unknownAt < cooldownMs || closed.signal.aborted) return;
      unknownAt = now();
      return refresh();
    },
    fetchedAt: () => (keys === undefined ? undefined : new Date(fetchedAt)),
    close: () => closed.abort(),
  };
}

// The public keys of the token issuer (RFC 7517), and where its metadata says they are (RFC 8414 section 3, OpenID Connect Discovery 1.0
// section 4).

type KeySetOptions = {
  issuer: string;
  /** Without it the address comes from the metadata of the issuer. */
  jwksUrl?: string | undefined;
  cacheMs: number;
  clock: Clock;
  log: VerifierLog;
  fetch: FetchJson;
};

/** The keys that may have signed a token, and the fingerprint of their set, which changes as soon as a key is withdrawn or added. */
type FoundKeys = { keys: readonly CryptoKey[]; set: string };

/** Keys that one token is tried with at most: each costs a verification. */
const maxTried = 16;

/** `holds` is true for as long as the issuer publishes exactly the same keys. */
export type KeySet = KeySource & {
  /**
   * The key that a token names, or all that fit one that names none.
   *
   * @throws {TokenError} `invalid` when the issuer has no such key, `unavailable` when no key was ever fetched
   */
  find(header: { alg: string; kid?: string }): Promise<FoundKeys>;
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
      const before = remote.latest();
      await remote.freshen();
      const keys = remote.latest();
      if (keys === undefined) throw new TokenError('unavailable', 'keys-unavailable');
      const known = await pick(keys, header);
      if (known !== undefined) return known;
      await remote.refreshForUnknown(before);
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
): Promise<FoundKeys | undefined> {
  try {
    return { keys: [await set.pick(header)], set: set.name };
  } catch (cause) {
    if (cause instanceof errors.JWKSNoMatchingKey) return undefined;
    if (!(cause instanceof errors.JWKSMultipleMatchingKeys)) throw new TokenError('invalid', 'unknown-key', { cause });
    const keys: CryptoKey[] = [];
    for await (const key of cause) if (keys.push(key) === maxTried) break;
    return { keys, set: set.name };
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

/** RFC 8414 puts the well-known part before the path of the issuer, OpenID Connect after it. */
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
  // RFC 8414 section 3.3: otherwise one issuer could supply the keys of another.
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
