// The public keys of the token issuer: fetched, kept, and served from memory when the issuer is away. @see RFC 7517
import { type CryptoKey, createLocalJWKSet, errors, type JSONWebKeySet, type LocalJWKSet } from 'jose';
import type { Clock } from '../clock.ts';
import { isObject } from './claims.ts';
import { discoverKeysUrl } from './discovery.ts';
import { fetchJson } from './fetch-json.ts';
import { TokenError } from './token-error.ts';
import type { VerifierLog } from './verifier-log.ts';

/** Metadata and keys together must arrive within this time (ms). */
const timeoutMs = 5_000;
/** An unknown `kid`, or a refresh that failed, leads to another fetch at most this often (ms). */
const cooldownMs = 30_000;
/** As long as no key was ever fetched, nobody can be served: try again sooner (ms). */
const coldCooldownMs = 5_000;
/** Older than this: refreshed while the old keys serve on (ms). */
const refreshAfterMs = 300_000;
/** Not even tried for this long (nobody called): refreshed first, so that a withdrawn key is not trusted (ms). */
const waitAfterMs = 3_600_000;

export type KeySetOptions = {
  issuer: string;
  /** Without it the address comes from the metadata of the issuer. */
  jwksUrl?: string | undefined;
  clock: Clock;
  log: VerifierLog;
  fetch: typeof globalThis.fetch;
};

export type KeySet = {
  /**
   * The key that a token names.
   *
   * @throws {TokenError} `invalid` when the issuer has no such key, `unavailable` when no key was ever fetched
   */
  find(header: { alg: string; kid?: string }): Promise<CryptoKey>;
  /** When the keys in use were fetched; undefined as long as there are none. */
  fetchedAt(): Date | undefined;
  close(): void;
};

/** Starts fetching at once, so that the first request need not wait for it. Never throws because of the issuer. */
export function createKeySet(options: KeySetOptions): KeySet {
  const closed = new AbortController();
  let keys: LocalJWKSet | undefined;
  let fetchedAt = Number.NEGATIVE_INFINITY;
  let triedAt = Number.NEGATIVE_INFINITY;
  let unknownAt = Number.NEGATIVE_INFINITY;
  let running: Promise<void> | undefined;
  let isBlocking = true;
  const now = () => options.clock.now().getTime();

  async function load(): Promise<void> {
    triedAt = now();
    try {
      const signal = AbortSignal.any([closed.signal, AbortSignal.timeout(timeoutMs)]);
      const how = { fetch: options.fetch, signal };
      const url = options.jwksUrl === undefined ? await discoverKeysUrl(options.issuer, how) : new URL(options.jwksUrl);
      const document = await fetchJson(url, how);
      if (!isKeySet(document)) throw new Error(`${url.href} is not a JSON Web Key Set`);
      keys = createLocalJWKSet(document);
      fetchedAt = now();
    } catch (err) {
      if (!closed.signal.aborted) options.log.warn({ err }, 'the keys of the token issuer could not be fetched');
    }
  }

  function refresh(): Promise<void> {
    running ??= load().finally(() => {
      running = undefined;
    });
    return running;
  }

  async function freshen(): Promise<void> {
    if (now() - fetchedAt < refreshAfterMs || closed.signal.aborted) return;
    if (running === undefined) {
      const sinceTry = now() - triedAt;
      if (sinceTry < (keys === undefined ? coldCooldownMs : cooldownMs)) return;
      // While the issuer stays away, callers are served from memory and do not wait for every new attempt.
      isBlocking = keys === undefined || sinceTry >= waitAfterMs;
      void refresh();
    }
    if (isBlocking) await running;
  }

  async function refreshForUnknown(calledAt: number): Promise<void> {
    if (running !== undefined) return running;
    if (fetchedAt > calledAt || now() - unknownAt < cooldownMs || closed.signal.aborted) return;
    unknownAt = now();
    return refresh();
  }

  void refresh();
  return {
    async find(header) {
      const calledAt = now();
      await freshen();
      if (keys === undefined) throw new TokenError('unavailable', 'keys-unavailable');
      const key = await pick(keys, header);
      if (key !== undefined) return key;
      await refreshForUnknown(calledAt);
      const found = await pick(keys, header);
      if (found === undefined) throw new TokenError('invalid', 'unknown-key');
      return found;
    },
    fetchedAt: () => (keys === undefined ? undefined : new Date(fetchedAt)),
    close: () => closed.abort(),
  };
}

function isKeySet(value: unknown): value is JSONWebKeySet {
  return isObject(value) && Array.isArray(value.keys) && value.keys.every(isObject);
}

async function pick(keys: LocalJWKSet, header: { alg: string; kid?: string }): Promise<CryptoKey | undefined> {
  try {
    return await keys(header);
  } catch (cause) {
    if (cause instanceof errors.JWKSNoMatchingKey) return undefined;
    throw new TokenError('invalid', 'unknown-key', { cause });
  }
}
