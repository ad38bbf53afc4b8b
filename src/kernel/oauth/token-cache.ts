import type { VerifiedToken } from './caller.ts';

/** Tokens that were verified, by their hash. Bounded in bytes; the one that was used longest ago makes room. */
type TokenCache = {
  /** A token whose signature need not be verified again yet. */
  get(hash: string, now: Date): VerifiedToken | undefined;
  /** The subject of a token that was verified once and has not expired: good for counting, not for letting in. */
  subject(hash: string, now: Date): string | undefined;
  set(hash: string, token: VerifiedToken, now: Date): void;
  delete(hash: string): void;
  clear(): void;
};

type TokenCacheOptions = {
  /** Memory for all tokens together, about. */
  maxBytes: number;
  /** How long a verified token is taken without verifying it again; 0: never. */
  cacheMs: number;
};

type Entry = { token: VerifiedToken; until: number; bytes: number };

/** What an entry takes beside its texts: the objects, the set of scopes, its place in the map. */
const entryBytes = 700;
const scopeBytes = 60;

export function createTokenCache({ maxBytes, cacheMs }: TokenCacheOptions): TokenCache {
  // A Map keeps the order of insertion: the first key is the one that was used longest ago.
  const entries = new Map<string, Entry>();
  let bytes = 0;
  // Mostly the one that comes next: it need not be moved, and moving in a Map means a new table every few times.
  let last: string | undefined;

  const drop = (hash: string): void => {
    bytes -= entries.get(hash)?.bytes ?? 0;
    entries.delete(hash);
  };
  const find = (hash: string, now: Date): Entry | undefined => {
    const entry = entries.get(hash);
    if (entry === undefined) return undefined;
    if (now.getTime() >= entry.token.expiry * 1000) {
      drop(hash);
      return undefined;
    }
    if (hash !== last) {
      entries.delete(hash);
      entries.set(hash, entry);
      last = hash;
    }
    return entry;
  };
  return {
    get(hash, now) {
      const entry = find(hash, now);
      return entry !== undefined && now.getTime() < entry.until ? entry.token : undefined;
    },
    subject: (hash, now) => find(hash, now)?.token.caller.subject,
    set(hash, token, now) {
      drop(hash);
      const until = Math.min(now.getTime() + cacheMs, token.verifyAgainAt ?? Number.POSITIVE_INFINITY);
      const entry = { token, until, bytes: sizeOf(hash, token) };
      entries.set(hash, entry);
      bytes += entry.bytes;
      last = hash;
      for (const oldest of entries.keys()) {
        if (bytes <= maxBytes) break;
        drop(oldest);
      }
    },
    delete: drop,
    clear() {
      entries.clear();
      bytes = 0;
    },
  };
}

/** Bytes of an entry, about: a character takes up to two. */
function sizeOf(hash: string, { caller, key, boundTo = '', fsc }: VerifiedToken): number {
  const texts = [hash, key, boundTo, fsc?.groupId, fsc?.service, caller.subject, caller.clientId, caller.actor];
  const scopes = [...caller.scopes];
  const characters = [...texts, caller.oin, caller.peerId, caller.tokenHash, ...scopes].reduce(
    (sum, text) => sum + (text?.length ?? 0),
    0,
  );
  return entryBytes + scopeBytes * scopes.length + 2 * characters;
}
