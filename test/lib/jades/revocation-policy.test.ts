// When answers are fetched, cached, refreshed and waited for; the network is a function here, the clock a variable.
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { Fetch, FetchRequest } from '../../../src/lib/jades/revocation.ts';
import { createGuardedFetch } from '../../../src/lib/outbound/guarded-fetch.ts';
import { craft, type Kit, leafFor, openKit, revoke, verdict, verifierFor } from './support/kit.ts';

let kit: Kit;
const network = createGuardedFetch({ allowPrivate: true });
beforeAll(async () => {
  kit = await openKit();
  kit.authority.behaviour.lifeSeconds = 3600;
});
afterAll(async () => {
  await network.close();
  await kit.close();
});

/** Counts requests, and lets a test change the answer. */
function recorder(change: (request: FetchRequest) => Promise<Uint8Array> | undefined = () => undefined) {
  const asked: string[] = [];
  const fetch: Fetch = (request) => {
    asked.push(request.url);
    return change(request) ?? network.fetch(request);
  };
  return { asked, fetch };
}

function freshMessage() {
  const leaf = leafFor(kit);
  return { leaf, message: craft(kit, { chain: [leaf.raw, kit.intermediate] }) };
}

const patience = { timeout: 60_000, interval: 20 };

describe('revocation answers', () => {
  it('are fetched once per certificate while they are valid', async () => {
    const { asked, fetch } = recorder();
    const verifier = verifierFor(kit, { fetch });
    const { message } = freshMessage();
    for (let i = 0; i < 3; i += 1) expect(await verdict(verifier, message)).toBe('accepted');
    expect(asked.length).toBe(2);
  });

  it('are fetched once for many concurrent requests', async () => {
    const { asked, fetch } = recorder();
    const verifier = verifierFor(kit, { fetch });
    const { message } = freshMessage();
    const verdicts = await Promise.all(Array.from({ length: 50 }, () => verdict(verifier, message)));
    expect(new Set(verdicts)).toEqual(new Set(['accepted']));
    expect(asked.length).toBe(2);
  });

  it('are refreshed before they expire, and a revocation is noticed then', async () => {
    const { asked, fetch } = recorder();
    const started = Date.now();
    let passed = 0;
    const now = () => new Date(started + passed);
    const verifier = verifierFor(kit, { fetch, now });
    const { leaf, message } = freshMessage();
    expect(await verdict(verifier, message)).toBe('accepted');
    passed = 2_800_000;
    revoke(kit, leaf);
    kit.authority.behaviour.ocsp = 'by-key';
    expect(await verdict(verifier, message)).toBe('accepted');
    await vi.waitFor(async () => expect(await verdict(verifier, message)).toBe('certificate-revoked'), patience);
    expect(asked.length).toBe(4);
    kit.authority.behaviour.ocsp = 'honest';
  });

  it('are not used after they expire when no responder answers any more', async () => {
    let away = false;
    const { fetch } = recorder(() => (away ? Promise.reject(new Error('away')) : undefined));
    const started = Date.now();
    let passed = 0;
    const verifier = verifierFor(kit, { fetch, now: () => new Date(started + passed) });
    const { message } = freshMessage();
    expect(await verdict(verifier, message)).toBe('accepted');
    away = true;
    passed = 3_500_000;
    expect(await verdict(verifier, message)).toBe('accepted');
    passed = 3_700_000;
    expect(await verdict(verifier, message)).toBe('revocation-unknown');
  });

  it('without an expiry are not cached', async () => {
    kit.authority.behaviour.ocsp = 'no-end';
    const verifier = verifierFor(kit);
    const { leaf, message } = freshMessage();
    expect(await verdict(verifier, message)).toBe('accepted');
    revoke(kit, leaf);
    expect(await verdict(verifier, message)).toBe('certificate-revoked');
    kit.authority.behaviour.ocsp = 'honest';
  });

  it('from one list serve all certificates of its issuer', async () => {
    const { asked, fetch } = recorder((request) =>
      request.method === 'POST' ? Promise.reject(new Error('no responder')) : undefined,
    );
    const verifier = verifierFor(kit, { fetch });
    await Promise.all(
      [1, 2, 3].map(async () => expect(await verdict(verifier, freshMessage().message)).toBe('accepted')),
    );
    expect(asked.filter((url) => url.endsWith('.crl')).length).toBe(2);
  });

  it('from a list are used until it expires while it cannot be refreshed, which is reported and retried after a pause', async () => {
    let away = false;
    const noResponder = () => Promise.reject(new Error('no responder'));
    const { asked, fetch } = recorder((request) => {
      if (request.method === 'POST') return noResponder();
      return away ? Promise.reject(new Error('away')) : undefined;
    });
    const started = Date.now();
    let passed = 0;
    const reported: unknown[] = [];
    const refreshFailed = (reason: unknown) => void reported.push(reason);
    const verifier = verifierFor(kit, { fetch, refreshFailed, now: () => new Date(started + passed) });
    const lists = () => asked.filter((url) => url === kit.authority.crlUrl).length;
    expect(await verdict(verifier, freshMessage().message)).toBe('accepted');
    away = true;
    passed = 3_000_000;
    // Only the list has information about these leaves.
    expect(await verdict(verifier, freshMessage().message)).toBe('accepted');
    await vi.waitFor(() => expect(reported).toContainEqual(new Error('away')), patience);
    expect(lists()).toBe(2);
    passed += 10_000;
    expect(await verdict(verifier, freshMessage().message)).toBe('accepted');
    expect(lists()).toBe(2);
    passed += 30_000;
    const { leaf, message } = freshMessage();
    expect(await verdict(verifier, message)).toBe('accepted');
    await vi.waitFor(() => expect(lists()).toBe(3), patience);
    away = false;
    revoke(kit, leaf);
    passed += 30_000;
    // The list is refreshed now; its earlier information is checked again soon, not only when it expires.
    expect(await verdict(verifier, message)).toBe('accepted');
    await vi.waitFor(() => expect(lists()).toBe(4), patience);
    const askAgain = async () => {
      passed += 30_000;
      expect(await verdict(verifier, message)).toBe('certificate-revoked');
    };
    await vi.waitFor(askAgain, { timeout: 60_000, interval: 500 });
    expect(passed).toBeLessThan(3_600_000);
  });

  it('from a list are not used after it expires', async () => {
    let away = false;
    const { fetch } = recorder((request) =>
      away || request.method === 'POST' ? Promise.reject(new Error('away')) : undefined,
    );
    const started = Date.now();
    let passed = 0;
    const verifier = verifierFor(kit, { fetch, now: () => new Date(started + passed) });
    const { message } = freshMessage();
    expect(await verdict(verifier, message)).toBe('accepted');
    away = true;
    passed = 3_590_000;
    expect(await verdict(verifier, freshMessage().message)).toBe('accepted');
    passed = 3_601_000;
    expect(await verdict(verifier, message)).toBe('revocation-unknown');
    expect(await verdict(verifier, freshMessage().message)).toBe('revocation-unknown');
  });

  it('are requested from one address one at a time', async () => {
    let running = 0;
    let most = 0;
    const { fetch } = recorder((request) => {
      running += 1;
      most = Math.max(most, running);
      return network.fetch(request).finally(() => {
        running -= 1;
      });
    });
    const verifier = verifierFor(kit, { fetch, limits: { revocationDeadlineMs: 20_000 } });
    await Promise.all(Array.from({ length: 8 }, async () => verdict(verifier, freshMessage().message)));
    expect(most).toBe(1);
  });

  it('that arrive after the deadline are used for the next request', async () => {
    let release = (): void => undefined;
    const gate = new Promise<void>((resolve) => {
      release = resolve;
    });
    const { asked, fetch } = recorder((request) => gate.then(() => network.fetch(request)));
    const verifier = verifierFor(kit, { fetch, limits: { revocationDeadlineMs: 50, ocspTimeoutMs: 60_000 } });
    const { message } = freshMessage();
    expect(await verdict(verifier, message)).toBe('revocation-unknown');
    release();
    await vi.waitFor(async () => expect(await verdict(verifier, message)).toBe('accepted'), patience);
    expect(asked.length).toBe(2);
  });

  it('give a reason when there is none', async () => {
    const { fetch } = recorder(() => Promise.reject(new Error('the network is down')));
    const verifier = verifierFor(kit, { fetch });
    const error: unknown = await verifier.verify(freshMessage().message).catch((reason: unknown) => reason);
    expect(error).toMatchObject({
      code: 'revocation-unknown',
      cause: { errors: [{ message: 'the network is down' }, {}] },
    });
  });

  it('are no longer waited for when the verifier closes', async () => {
    const { asked, fetch } = recorder(
      ({ signal }) => new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
    );
    const verifier = verifierFor(kit, { fetch, limits: { revocationDeadlineMs: 60_000 } });
    const outcome = verdict(verifier, freshMessage().message);
    await vi.waitFor(() => expect(asked.length).toBeGreaterThan(0), patience);
    await verifier.close();
    expect(await outcome).toBe('revocation-unknown');
  });
});
