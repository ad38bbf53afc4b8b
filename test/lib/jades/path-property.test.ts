// Compares our verdict on random chains with that of the OpenSSL program, where installed.
import { spawnSync } from 'node:child_process';
import { generateKeyPairSync, type KeyObject, type X509Certificate } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { JadesError, parseCertificate } from '../../../src/lib/jades/certificate.ts';
import { validatePath } from '../../../src/lib/jades/chain.ts';
import { at, type KeyPool, mintChain, policy, type RandomChain, randomChain } from './support/random-chain.ts';

const installed = spawnSync('openssl', ['version'], { encoding: 'utf8' }).stdout?.startsWith('OpenSSL 3') ?? false;
const rsa = (modulusLength: number): KeyObject => generateKeyPairSync('rsa', { modulusLength }).privateKey;

let pool: KeyPool;
let dir: string;
beforeAll(() => {
  pool = { good: [1, 2, 3, 4, 5].map(() => rsa(2048)), short: rsa(1024), stranger: rsa(2048) };
  dir = mkdtempSync(join(tmpdir(), 'openssl-'));
});
afterAll(() => rmSync(dir, { recursive: true }));

function ours(sent: X509Certificate[], root: X509Certificate, required: boolean): string {
  const x5c = sent.map(({ raw }) => parseCertificate(raw));
  const requiredPolicies = required ? [policy] : [];
  try {
    validatePath(x5c, { anchors: [parseCertificate(root.raw)], requiredPolicies, at });
    return 'accepted';
  } catch (error) {
    if (error instanceof JadesError) return error.code === 'certificate-usage' ? 'usage' : `refused: ${error.detail}`;
    throw error;
  }
}

function theirs([leaf, ...rest]: X509Certificate[], root: X509Certificate, required: boolean): string {
  writeFileSync(join(dir, 'leaf.pem'), String(leaf));
  writeFileSync(join(dir, 'rest.pem'), rest.join(''));
  writeFileSync(join(dir, 'root.pem'), String(root));
  const flags = ['-auth_level', '2', '-attime', String(at.getTime() / 1000), '-policy_check', '-inhibit_map'];
  flags.push(...(required ? ['-explicit_policy', '-policy', policy] : ['-policy', '2.5.29.32.0']));
  const files = ['-CAfile', 'root.pem', ...(rest.length > 0 ? ['-untrusted', 'rest.pem'] : []), 'leaf.pem'];
  const done = spawnSync('openssl', ['verify', '-no-CApath', '-no-CAstore', ...flags, ...files], {
    cwd: dir,
    encoding: 'utf8',
  });
  return done.status === 0 ? 'accepted' : `refused: ${done.stderr}`;
}

/** Where we require more than RFC 5280: the order as sent, key usage in authorities, each key once, no policy constraints. */
function asksMore({ intermediates, shuffled, leaf, root }: RandomChain): boolean {
  const above = [root, ...intermediates];
  const short = [leaf, ...above.map(({ step }) => step)].filter(({ key }) => key === 'short').length;
  return (
    shuffled ||
    short > 1 ||
    intermediates.some(({ authority }) => authority.certificates === 'absent') ||
    above.some(({ authority: { explicit, inhibitAny } }) => explicit !== undefined || inhibitAny !== undefined)
  );
}

describe.skipIf(!installed)('path validation compared with OpenSSL', () => {
  it('never accepts what OpenSSL refuses, and refuses more only for reasons of its own', async () => {
    const seen = { accepted: 0, refused: 0 };
    await fc.assert(
      fc.asyncProperty(randomChain, async (chain) => {
        const certificates = mintChain(chain, pool);
        const own = certificates.at(-1);
        const [leaf, ...rest] = certificates.slice(0, -1);
        if (own === undefined || leaf === undefined) throw new Error('no chain');
        const root = chain.foreignRoot
          ? (mintChain(chain, { ...pool, good: pool.good.map(() => pool.stranger) }).at(-1) ?? own)
          : own;
        const sent = [leaf, ...(chain.shuffled ? rest.toReversed() : rest)];
        const [we, they] = [ours(sent, root, chain.policyRequired), theirs(sent, root, chain.policyRequired)];
        if (we === 'accepted') expect(they).toBe('accepted');
        if (we === 'usage') expect(chain.leafIsCa || !chain.signs).toBe(true);
        if (they === 'accepted' && we !== 'usage' && !asksMore(chain)) expect(we).toBe('accepted');
        seen[we === 'accepted' ? 'accepted' : 'refused'] += 1;
      }),
      { numRuns: 60 },
    );
    expect(seen.accepted).toBeGreaterThan(0);
    expect(seen.refused).toBeGreaterThan(0);
  });
});
