import { expect, it } from 'vitest';
import type { VerifiedToken } from '../../../src/plugins/oauth/token.ts';
import { createTokenCache } from '../../../src/plugins/oauth/token-verifier.ts';

const NOW = new Date('2026-03-01T12:00:00Z');
const at = (seconds: number) => new Date(NOW.getTime() + seconds * 1000);
const keys = { holds: () => true, isFresh: () => true, freshen: async () => {} };

interface Wishes {
  readonly seconds?: number;
  readonly scopes?: readonly string[];
  readonly verifyAgainAt?: number;
}

function token(subject: string, { seconds = 600, scopes = [], ...more }: Wishes = {}): VerifiedToken {
  const caller = {
    subject,
    kind: 'oauth',
    scopes: new Set(scopes),
    expiresAt: at(seconds),
    tokenHash: subject,
  } as const;
  return { caller, expiry: at(seconds).getTime() / 1000, keys, key: 'set', ...more };
}

it('lets the token go that was used longest ago', () => {
  const cache = createTokenCache({ maxBytes: 2400, cacheMs: 60_000 });
  for (const hash of ['a', 'b', 'c']) cache.set(hash, token(hash), NOW);
  // The last one again and again, then the first: now the second was used longest ago.
  for (const hash of ['c', 'c', 'a', 'a', 'c']) expect(cache.get(hash, NOW)?.caller.subject).toBe(hash);
  cache.set('d', token('d'), NOW);
  expect(['a', 'b', 'c', 'd'].filter((hash) => cache.get(hash, NOW) !== undefined)).toEqual(['a', 'c', 'd']);
});

it('counts bytes: one token with many scopes takes the space of many', () => {
  const cache = createTokenCache({ maxBytes: 100_000, cacheMs: 60_000 });
  for (let n = 0; n < 50; n += 1) cache.set(`small ${n}`, token(`small ${n}`), NOW);
  expect(cache.get('small 0', NOW)).toBeDefined();
  const scopes = Array.from({ length: 1000 }, (_, n) => `scope:${n}`);
  cache.set('large', token('large', { scopes }), NOW);
  expect(cache.get('large', NOW)).toBeDefined();
  expect(cache.get('small 1', NOW)).toBeUndefined();
  cache.set('larger', token('larger', { scopes: scopes.map((scope) => scope.repeat(20)) }), NOW);
  expect(['larger', 'large', 'small 49'].filter((hash) => cache.get(hash, NOW) !== undefined)).toEqual([]);
});

it('gives a token for its time, and its subject until it expires', () => {
  const cache = createTokenCache({ maxBytes: 10_000, cacheMs: 60_000 });
  cache.set('a', token('a'), NOW);
  expect(cache.get('a', at(59))?.caller.subject).toBe('a');
  expect(cache.get('a', at(60))).toBeUndefined();
  expect(cache.subject('a', at(599))).toBe('a');
  expect(cache.subject('a', at(600))).toBeUndefined();
  cache.set('b', token('b', { verifyAgainAt: at(10).getTime() }), NOW);
  expect(cache.get('b', at(11))).toBeUndefined();
  cache.set('b', token('b'), at(11));
  expect(cache.get('b', at(12))?.caller.subject).toBe('b');
  cache.delete('b');
  expect(cache.subject('b', at(12))).toBeUndefined();
});
