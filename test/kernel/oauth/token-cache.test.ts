import { expect, it } from 'vitest';
import { createTokenCache } from '../../../src/kernel/oauth/token-cache.ts';
import type { VerifiedToken } from '../../../src/kernel/oauth/verified-token.ts';

const NOW = new Date('2026-03-01T12:00:00Z');

function token(subject: string, cacheUntil = NOW.getTime() + 60_000): VerifiedToken {
  const caller = {
    subject,
    kind: 'oauth',
    scopes: new Set<string>(),
    expiresAt: new Date(cacheUntil),
    tokenHash: subject,
  } as const;
  return { caller, expiry: cacheUntil / 1000, cacheUntil };
}

it('lets the token go that was used longest ago', () => {
  const cache = createTokenCache(3);
  for (const hash of ['a', 'b', 'c']) cache.set(hash, token(hash));
  // The last one again and again, then the first: now the second was used longest ago.
  for (const hash of ['c', 'c', 'a', 'a', 'c']) expect(cache.get(hash, NOW)?.caller.subject).toBe(hash);
  cache.set('d', token('d'));
  expect(['a', 'b', 'c', 'd'].filter((hash) => cache.get(hash, NOW) !== undefined)).toEqual(['a', 'c', 'd']);
});

it('forgets a token when its time is up, and can learn it anew', () => {
  const cache = createTokenCache(2);
  cache.set('a', token('a', NOW.getTime()));
  expect(cache.get('a', NOW)).toBeUndefined();
  cache.set('b', token('b'));
  cache.set('a', token('a'));
  expect(cache.get('a', NOW)?.caller.subject).toBe('a');
  cache.set('c', token('c'));
  expect(cache.get('b', NOW)).toBeUndefined();
  cache.clear();
  expect(cache.get('a', NOW)).toBeUndefined();
});
