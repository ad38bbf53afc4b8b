// Every way in which a responder or a list can be wrong, each for the leaf and the intermediate.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { CrlBehaviour, OcspBehaviour } from '../../support/authority/behaviour.ts';
import { type Addresses, intermediateName, leafExtensions, mintAuthority } from '../../support/authority/profiles.ts';
import { craft, type Kit, leafFor, openKit, revoke, verdict, verifierFor } from './support/kit.ts';

let kit: Kit;
beforeAll(async () => {
  kit = await openKit();
});
afterAll(() => kit.close());
beforeEach(() => {
  kit.authority.behaviour.ocsp = 'honest';
  kit.authority.behaviour.crl = 'not-found';
  kit.authority.behaviour.lifeSeconds = 5;
  kit.authority.behaviour.ocspDelayMs = 0;
});

/** Only for answers that never come. */
const short = { revocationDeadlineMs: 700, ocspTimeoutMs: 250, crlTimeoutMs: 250 };
/** No more than this is read of an endless answer; the default, fifty times as high, would not change the outcome. */
const small = { crlBytes: 1024 * 1024 };
function limitsFor(behaviour: string) {
  if (behaviour === 'gigabyte') return small;
  return ['hang', 'drip'].includes(behaviour) ? short : {};
}

/** Faults that a responder and the server of a list have in common. */
const UNREADABLE = (
  ['hang', 'drip', 'not-found', 'garbage', 'empty', 'gigabyte', 'redirect-elsewhere', 'redirect-forever'] as const
).map((behaviour): [typeof behaviour, string] => [behaviour, 'revocation-unknown']);

/** A new leaf under the intermediate, without cached answers. */
function fresh(addresses: Addresses = kit.authority) {
  const leaf = leafFor(kit, { extensions: leafExtensions(addresses) });
  return { leaf, message: craft(kit, { chain: [leaf.raw, kit.intermediate] }) };
}

describe('OCSP', () => {
  it.each<[OcspBehaviour, string]>([
    ['honest', 'accepted'],
    ['issuer-signed', 'accepted'],
    ['by-key', 'accepted'],
    ['no-nonce', 'accepted'],
    ['no-end', 'accepted'],
    ['older-no-end', 'accepted'],
    ['redirect-own-host', 'accepted'],
    ['forged', 'revocation-unknown'],
    ['foreign', 'revocation-unknown'],
    ['unappointed', 'revocation-unknown'],
    ['expired-delegate', 'revocation-unknown'],
    ['weak-signature', 'revocation-unknown'],
    ['stale', 'revocation-unknown'],
    ['years-old', 'revocation-unknown'],
    ['future', 'revocation-unknown'],
    ['no-nonce-no-end', 'revocation-unknown'],
    ['other-nonce', 'revocation-unknown'],
    ['wrong-certificate', 'revocation-unknown'],
    ['twice', 'revocation-unknown'],
    ['critical-extension', 'revocation-unknown'],
    ['critical-single-extension', 'revocation-unknown'],
    ['unknown', 'revocation-unknown'],
    ['try-later', 'revocation-unknown'],
    ...UNREADABLE,
  ])('answering %s: %s, and a revoked leaf is never accepted', async (behaviour, code) => {
    kit.authority.behaviour.ocsp = behaviour;
    const verifier = verifierFor(kit, { limits: limitsFor(behaviour) });
    expect(await verdict(verifier, fresh().message)).toBe(code);
    const { leaf, message } = fresh();
    revoke(kit, leaf);
    expect(await verdict(verifier, message)).toBe(code === 'accepted' ? 'certificate-revoked' : code);
    kit.authority.behaviour.ocsp = 'honest';
    expect(await verdict(verifierFor(kit), message)).toBe('certificate-revoked');
  });

  it('of a revoked intermediate refuses every leaf under it', async () => {
    const { issuers, ocspUrl } = kit.authority;
    const { key } = issuers.intermediate;
    const again = mintAuthority({ subject: intermediateName, key, issuer: issuers.root, now: new Date(), ocspUrl });
    revoke(kit, again);
    const chain = [leafFor(kit).raw, again.raw];
    expect(await verdict(verifierFor(kit), craft(kit, { chain }))).toBe('certificate-revoked');
    expect(await verdict(verifierFor(kit), fresh().message)).toBe('accepted');
  });

  it('answering too late serves the next request, and is called only once meanwhile', async () => {
    const verifier = verifierFor(kit, { limits: { ocspTimeoutMs: 100, ocspLateMs: 20_000 } });
    kit.authority.behaviour.lifeSeconds = 3600;
    kit.authority.behaviour.ocspDelayMs = 2000;
    const before = kit.authority.calls.filter((call) => call === 'POST /ocsp').length;
    const { message } = fresh();
    expect(await verdict(verifier, message)).toBe('revocation-unknown');
    expect(await verdict(verifier, message)).toBe('revocation-unknown');
    await expect.poll(() => verdict(verifier, message)).toBe('accepted');
    kit.authority.behaviour.ocsp = 'not-found';
    expect(await verdict(verifier, message)).toBe('accepted');
    // One for the leaf and one for the intermediate, however many requests there were.
    expect(kit.authority.calls.filter((call) => call === 'POST /ocsp').length - before).toBe(2);
  });

  it('answering too late with a revocation refuses the next request', async () => {
    const verifier = verifierFor(kit, { revocation: 'soft', limits: { ocspTimeoutMs: 50, ocspLateMs: 20_000 } });
    kit.authority.behaviour.lifeSeconds = 3600;
    kit.authority.behaviour.ocspDelayMs = 500;
    const { leaf, message } = fresh();
    revoke(kit, leaf);
    expect(await verdict(verifier, message)).toBe('accepted');
    await expect.poll(() => verdict(verifier, message)).toBe('certificate-revoked');
  });

  it('finds serial numbers that begin with a high bit or are short', async () => {
    for (const serial of ['ff00000000000000000000000000ff', '80', '01']) {
      const leaf = leafFor(kit, { serial });
      const message = craft(kit, { chain: [leaf.raw, kit.intermediate] });
      expect(await verdict(verifierFor(kit), message)).toBe('accepted');
      revoke(kit, leaf);
      expect(await verdict(verifierFor(kit), message)).toBe('certificate-revoked');
      kit.authority.behaviour.ocsp = 'not-found';
      kit.authority.behaviour.crl = 'honest';
      expect(await verdict(verifierFor(kit), message)).toBe('certificate-revoked');
      kit.authority.behaviour.ocsp = 'honest';
    }
  });
});

describe('the revocation list', () => {
  beforeEach(() => {
    kit.authority.behaviour.ocsp = 'not-found';
  });

  it.each<[CrlBehaviour, string]>([
    ['honest', 'accepted'],
    ['redirect-own-host', 'accepted'],
    ['forged', 'revocation-unknown'],
    ['foreign', 'revocation-unknown'],
    ['weak-signature', 'revocation-unknown'],
    ['stale', 'revocation-unknown'],
    ['years-old', 'revocation-unknown'],
    ['future', 'revocation-unknown'],
    ['delta', 'revocation-unknown'],
    ['partial', 'revocation-unknown'],
    ['authorities-only', 'revocation-unknown'],
    ['elsewhere', 'revocation-unknown'],
    ['unknown-extension', 'revocation-unknown'],
    ['relative-name', 'revocation-unknown'],
    ['unreadable-scope', 'revocation-unknown'],
    ['scope-twice', 'revocation-unknown'],
    ['two-algorithms', 'revocation-unknown'],
    ['unknown-entry', 'revocation-unknown'],
    ...UNREADABLE,
  ])('that is %s: %s, and a revoked leaf is never accepted', async (behaviour, code) => {
    kit.authority.behaviour.crl = behaviour;
    const verifier = verifierFor(kit, { limits: limitsFor(behaviour) });
    expect(await verdict(verifier, fresh().message)).toBe(code);
    const { leaf, message } = fresh();
    revoke(kit, leaf);
    expect(await verdict(verifier, message)).toBe(code === 'accepted' ? 'certificate-revoked' : code);
    kit.authority.behaviour.crl = 'honest';
    expect(await verdict(verifierFor(kit), message)).toBe('certificate-revoked');
  });

  it('of a revoked intermediate refuses every leaf under it', async () => {
    kit.authority.behaviour.crl = 'honest';
    const { issuers, rootCrlUrl: crlUrl } = kit.authority;
    const { key } = issuers.intermediate;
    const again = mintAuthority({ subject: intermediateName, key, issuer: issuers.root, now: new Date(), crlUrl });
    revoke(kit, again);
    expect(await verdict(verifierFor(kit), craft(kit, { chain: [leafFor(kit).raw, again.raw] }))).toBe(
      'certificate-revoked',
    );
  });

  it('is read up to the configured size', async () => {
    kit.authority.behaviour.crl = 'honest';
    const small = verifierFor(kit, { limits: { crlBytes: 200 } });
    expect(await verdict(small, fresh().message)).toBe('revocation-unknown');
    expect(await verdict(verifierFor(kit, { limits: { crlBytes: 5_000 } }), fresh().message)).toBe('accepted');
  });

  it('is enough for a certificate that names no responder', async () => {
    kit.authority.behaviour.ocsp = 'honest';
    kit.authority.behaviour.crl = 'honest';
    expect(await verdict(verifierFor(kit), fresh({ crlUrl: kit.authority.crlUrl }).message)).toBe('accepted');
  });
});

describe('without an answer', () => {
  it('a certificate without an address is refused', async () => {
    const { message } = fresh({});
    expect(await verdict(verifierFor(kit), message)).toBe('revocation-unknown');
  });

  it.each(['ldap://127.0.0.1/x', 'ftp://127.0.0.1/x', 'file:///etc/passwd', 'http:/', 'javascript:1'])(
    'the address %s is not called',
    async (ocspUrl) => {
      const { message } = fresh({ ocspUrl });
      expect(await verdict(verifierFor(kit), message)).toBe('revocation-unknown');
    },
  );

  it('loopback is not called unless it is allowed', async () => {
    const calls = kit.authority.calls.length;
    expect(await verdict(verifierFor(kit, { allowPrivate: false }), fresh().message)).toBe('revocation-unknown');
    expect(kit.authority.calls.length).toBe(calls);
  });

  it('everything except a revocation is accepted in soft mode', async () => {
    for (const behaviour of ['not-found', 'hang', 'forged', 'unknown'] as const) {
      kit.authority.behaviour.ocsp = behaviour;
      const soft = verifierFor(kit, { revocation: 'soft', limits: limitsFor(behaviour) });
      expect(await verdict(soft, fresh().message)).toBe('accepted');
    }
    const soft = verifierFor(kit, { revocation: 'soft' });
    kit.authority.behaviour.ocsp = 'honest';
    const { leaf, message } = fresh();
    revoke(kit, leaf);
    expect(await verdict(soft, message)).toBe('certificate-revoked');
    expect(await verdict(soft, craft(kit, { chain: kit.requesterChain.slice(0, 1) }))).toBe('certificate-untrusted');
  });
});
