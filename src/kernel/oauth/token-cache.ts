import type { VerifiedToken } from './verified-token.ts';

/** Tokens that were verified, by their hash. Bounded; the one that was used longest ago makes room. */
export type TokenCache = {
  get(hash: string, now: Date): VerifiedToken | undefined;
  set(hash: string, token: VerifiedToken): void;
  clear(): void;
};

/** @param size the greatest number of tokens kept (each takes about half a kilobyte) */
export function createTokenCache(size: number): TokenCache {
  // A Map keeps the order of insertion: the first key is the one that was used longest ago.
  const tokens = new Map<string, VerifiedToken>();
  // Mostly the one that comes next: it need not be moved, and moving in a Map means a new table every few times.
  let last: string | undefined;
  return {
    get(hash, now) {
      const token = tokens.get(hash);
      if (token === undefined) return undefined;
      if (now.getTime() >= token.cacheUntil) {
        tokens.delete(hash);
        return undefined;
      }
      if (hash !== last) {
        tokens.delete(hash);
        tokens.set(hash, token);
        last = hash;
      }
      return token;
    },
    set(hash, token) {
      tokens.delete(hash);
      tokens.set(hash, token);
      last = hash;
      for (const oldest of tokens.keys()) {
        if (tokens.size <= size) break;
        tokens.delete(oldest);
      }
    },
    clear: () => tokens.clear(),
  };
}
