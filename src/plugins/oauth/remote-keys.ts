/** Keys that another service publishes: fetched, cached, and served from memory while that service is unavailable. */
import { type CryptoKey, createLocalJWKSet, errors, type JSONWebKeySet, type LocalJWKSet } from 'jose';
import { isRecord } from '../../lib/json/json-value.ts';
import { reasonOf } from '../../lib/log.ts';
import type { ProxySettings } from '../../lib/outbound/guarded-fetch.ts';
import { createOutboundClient, type OutboundClient } from '../../lib/outbound/outbound-client.ts';
import { shareRuns } from '../../lib/scheduling.ts';
import type { Clock } from '../../lib/time.ts';
import { type KeySource, type ProtectedHeader, TokenError } from './token.ts';

export interface VerifierLog {
  warn(fields: object, message: string): void;
}

export interface Keys<T extends object> extends KeySource {
  latest(): T | undefined;
  /** Fetches once more for an unknown key. @param before the keys in use when it was requested: newer ones need no other fetch */
  refreshForUnknown(before: T | undefined): Promise<void>;
  fetchedAt(): Date | undefined;
  close(): void;
}

/** Milliseconds for the metadata of an issuer and its keys together: requests wait for them. */
const TIMEOUT_MS = 5_000;
/** Minimum time between fetches after a failure, or for an unknown key. */
const COOLDOWN_MS = 30_000;
/** The same before the first successful fetch, when no token can be verified. */
const COLD_COOLDOWN_MS = 1_000;

export interface SourceOptions {
  /** Milliseconds until keys are fetched again; they stay in use longer only while their publisher is unavailable. */
  readonly cacheMs: number;
  readonly clock: Clock;
  readonly log: VerifierLog;
  readonly client: OutboundClient;
}

interface PublishedOptions<T> extends SourceOptions {
  /** Locates and fetches the keys; their document becomes `read` when it changed. */
  readonly load: (signal: AbortSignal) => Promise<unknown>;
  readonly read: (document: unknown) => T;
  readonly of: string;
}

/** Starts fetching at once, so that the first request need not wait. Never throws because of the publisher. */
export function publishedKeys<T extends object>(options: PublishedOptions<T>): Keys<T> {
  const { cacheMs, clock, log, load, read, of } = options;
  const closed = new AbortController();
  let keys: T | undefined;
  let document: string | undefined;
  let fetchedAt = Number.NEGATIVE_INFINITY;
  let failedAt = Number.NEGATIVE_INFINITY;
  let unknownAt = Number.NEGATIVE_INFINITY;
  const msSince = (moment: number): number => clock.now().getTime() - moment;

  const refreshing = shareRuns(async () => {
    try {
      const found = await load(AbortSignal.any([closed.signal, AbortSignal.timeout(TIMEOUT_MS)]));
      const text = JSON.stringify(found);
      if (text !== document) keys = read(found);
      document = text;
      fetchedAt = clock.now().getTime();
      failedAt = Number.NEGATIVE_INFINITY;
    } catch (err) {
      failedAt = clock.now().getTime();
      if (!closed.signal.aborted) log.warn({ err }, `the keys of ${of} could not be fetched`);
    }
  });

  void refreshing.run();
  return {
    latest: () => keys,
    async freshen() {
      if (msSince(fetchedAt) < cacheMs || closed.signal.aborted) return;
      const isCoolingDown = msSince(failedAt) < (keys === undefined ? COLD_COOLDOWN_MS : COOLDOWN_MS);
      if (refreshing.running() === undefined && isCoolingDown) return;
      // While the publisher is unavailable, callers use the cached keys and do not wait for new attempts.
      const isUnavailable = keys !== undefined && failedAt > fetchedAt;
      const refreshed = refreshing.run();
      if (!isUnavailable) await refreshed;
    },
    async refreshForUnknown(before) {
      if (refreshing.running() === undefined) {
        if (keys !== before || msSince(unknownAt) < COOLDOWN_MS || closed.signal.aborted) return;
        unknownAt = clock.now().getTime();
      }
      return refreshing.run();
    },
    fetchedAt: () => (keys === undefined ? undefined : new Date(fetchedAt)),
    close: () => closed.abort(),
  };
}

/** Finds a key, fetching the keys once more if it is missing. @throws {TokenError} */
export async function findKey<T extends object, K>(
  source: Keys<T>,
  find: (keys: T) => Promise<K | undefined> | K | undefined,
): Promise<{ readonly found: K; readonly keys: T }> {
  const before = source.latest();
  await source.freshen();
  const keys = source.latest();
  if (keys === undefined) throw new TokenError('keys-unavailable');
  const known = await find(keys);
  if (known !== undefined) return { found: known, keys };
  await source.refreshForUnknown(before);
  const newer = source.latest() ?? keys;
  const found = await find(newer);
  if (found === undefined) throw new TokenError('unknown-key');
  return { found, keys: newer };
}

export function createKeysClient(clock: Clock, proxy?: ProxySettings): OutboundClient {
  return createOutboundClient({
    clock,
    timeoutMs: TIMEOUT_MS,
    maxBytes: 262_144,
    connections: 1,
    ...(proxy === undefined ? {} : { proxy }),
    // The operator chose the address.
    allowPrivate: true,
  });
}

/** Redirects are not followed: the address was configured or published. @throws {Error} that names the address */
export async function fetchKeys(client: OutboundClient, url: URL, signal: AbortSignal): Promise<unknown> {
  try {
    const answer = await client.getJson({ url: url.href, signal, redirects: 'none' });
    return answer.changed ? answer.json : undefined;
  } catch (cause) {
    throw new Error(`${url.href}: ${reasonOf(cause)}`, { cause });
  }
}

interface IssuerKeysOptions extends SourceOptions {
  readonly issuer: string;
  readonly jwksUrl?: string | undefined;
}

export type IssuerKeys = ReturnType<typeof createIssuerKeys>;

export function createIssuerKeys({ issuer, jwksUrl, ...options }: IssuerKeysOptions) {
  const { client } = options;
  const source = publishedKeys({
    ...options,
    of: 'the token issuer',
    load: async (signal) => {
      const url = jwksUrl === undefined ? await discoverKeysUrl(issuer, client, signal) : new URL(jwksUrl);
      return await fetchKeys(client, url, signal);
    },
    read: (document) => {
      if (!isKeySet(document)) throw new Error('the answer is not a JSON Web Key Set');
      return createLocalJWKSet(document);
    },
  });
  return {
    ...source,
    find: (header: KeyName) => findKey(source, (set) => pick(set, header)),
  };
}

function isKeySet(value: unknown): value is JSONWebKeySet {
  return isRecord(value) && Array.isArray(value.keys) && value.keys.every(isRecord);
}

type KeyName = Pick<ProtectedHeader, 'alg' | 'kid'>;

/** Maximum of keys tried for one token: each costs a verification. */
const MAX_TRIED = 16;

async function pick(set: LocalJWKSet, { alg, kid }: KeyName) {
  try {
    return [await set(kid === undefined ? { alg } : { alg, kid })];
  } catch (cause) {
    if (cause instanceof errors.JWKSNoMatchingKey) return undefined;
    if (!(cause instanceof errors.JWKSMultipleMatchingKeys)) throw new TokenError('unknown-key', { cause });
    const keys: CryptoKey[] = [];
    for await (const key of cause) if (keys.push(key) === MAX_TRIED) break;
    return keys;
  }
}

/** The address of an issuer's key set, from its metadata. @throws {AggregateError} when neither form is usable, with the cause of each */
async function discoverKeysUrl(issuer: string, client: OutboundClient, signal: AbortSignal): Promise<URL> {
  // RFC 8414 puts the well-known part before the path of the issuer, OpenID Connect after it.
  const { origin, pathname } = new URL(issuer);
  const path = pathname.replace(/\/$/, '');
  const addresses = [`/.well-known/oauth-authorization-server${path}`, `${path}/.well-known/openid-configuration`];
  const failures: unknown[] = [];
  for (const url of addresses.map((address) => new URL(origin + address))) {
    try {
      return keysUrl(await fetchKeys(client, url, signal), issuer, url);
    } catch (error) {
      signal.throwIfAborted();
      failures.push(error);
    }
  }
  const reasons = failures.map((failure) => reasonOf(failure)).join('; ');
  throw new AggregateError(failures, `no usable metadata of the issuer ${issuer}: ${reasons}`);
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
