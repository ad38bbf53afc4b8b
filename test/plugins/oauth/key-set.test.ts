import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { audience, type Issuer, oauthToken, signingKey, startIssuer } from './support/issuer.ts';
import { bearer, movableClock, openVerifier, recordingLog, refusal } from './support/verifier.ts';

const old = await signingKey('old', 'ES256');
const rotated = await signingKey('rotated', 'ES256');
let issuer: Issuer;

beforeEach(async () => {
  issuer = await startIssuer();
  issuer.serveKeys(old);
});
afterEach(() => issuer.close());

const oauth = () => ({ issuer: issuer.issuer, audience, jwksUrl: issuer.jwksUrl });
/** Each is another token, so that none is cached. */
const fresh = async (key = old) =>
  bearer(await oauthToken(key, issuer.issuer, { exp: Math.floor(Date.now() / 1000) + 90_000 }));

describe('the keys of the issuer', () => {
  it('are fetched once for many tokens', async () => {
    using verifier = openVerifier({ oauth: oauth() });
    await Promise.all(Array.from({ length: 20 }, async () => verifier.verify(await fresh())));
    for (let i = 0; i < 20; i++) await verifier.verify(await fresh());
    expect(issuer.count()).toBe(1);
  });

  it('are fetched again for an unknown key, so that a new key works at once', async () => {
    using verifier = openVerifier({ oauth: oauth() });
    await verifier.verify(await fresh());
    issuer.serveKeys(old, rotated);
    const requests = await Promise.all(Array.from({ length: 10 }, () => fresh(rotated)));
    const callers = await Promise.all(requests.map((request) => verifier.verify(request)));
    expect(callers.every((caller) => caller.subject === 'statistiek')).toBe(true);
    expect(issuer.count()).toBe(2);
  });

  it('are fetched for unknown keys at most once in 30 seconds, however many come', async () => {
    const clock = movableClock();
    using verifier = openVerifier({ oauth: oauth(), clock });
    await verifier.verify(await fresh());
    const unknown = async () => refusal(verifier.verify(await fresh(rotated)));
    expect(new Set(await Promise.all(Array.from({ length: 20 }, unknown)))).toEqual(new Set(['invalid unknown-key']));
    clock.forward(29);
    await unknown();
    expect(issuer.count()).toBe(2);
    clock.forward(2);
    await unknown();
    expect(issuer.count()).toBe(3);
  });

  it('are fetched for unknown keys at most once in 30 seconds, even when that fails', async () => {
    const clock = movableClock();
    using verifier = openVerifier({ oauth: oauth(), clock });
    await verifier.verify(await fresh());
    issuer.serve('/jwks', {}, 500);
    for (let i = 0; i < 5; i++)
      expect(await refusal(verifier.verify(await fresh(rotated)))).toBe('invalid unknown-key');
    expect(issuer.count()).toBe(2);
    clock.forward(31);
    issuer.serveKeys(rotated);
    expect((await verifier.verify(await fresh(rotated))).subject).toBe('statistiek');
  });

  it('keep working while the issuer is unavailable, even a day later', async () => {
    const clock = movableClock();
    const log = recordingLog();
    using verifier = openVerifier({ oauth: oauth(), clock, log });
    await verifier.verify(await fresh());
    issuer.serve('/jwks', {}, 503);
    clock.forward(40_000);
    expect((await verifier.verify(await fresh())).subject).toBe('statistiek');
    clock.forward(10);
    expect((await verifier.verify(await fresh())).subject).toBe('statistiek');
    expect(issuer.count()).toBe(2);
    expect(log.lines).toEqual([expect.stringContaining('/jwks: status 503')]);
  });

  it('keep working without waiting while the issuer hangs', async () => {
    const clock = movableClock();
    const log = recordingLog();
    using verifier = openVerifier({ oauth: oauth(), clock, log });
    await verifier.verify(await fresh());
    issuer.serve('/jwks', {}, 503);
    for (let minutes = 0; minutes < 120; minutes += 30) {
      clock.forward(1_800);
      await verifier.verify(await fresh());
      // A call in flight when the clock moves is the one that the next token would make.
      await expect.poll(() => log.lines.length).toBe(1 + minutes / 30);
    }
    issuer.hang('/jwks');
    clock.forward(31);
    const answers = await Promise.all([verifier.verify(await fresh()), verifier.verify(await fresh())]);
    expect(answers.map((caller) => caller.subject)).toEqual(['statistiek', 'statistiek']);
    await issuer.called(6);
  });

  it.each([
    ['a new token', false],
    ['a previously verified token', true],
  ])('are fetched first when they have expired: %s of a withdrawn key is refused', async (_what, again) => {
    const clock = movableClock();
    using verifier = openVerifier({ oauth: oauth(), clock });
    const token = await fresh();
    await verifier.verify(token);
    issuer.serveKeys(rotated);
    clock.forward(200);
    expect((await verifier.verify(token)).subject).toBe('statistiek');
    clock.forward(101);
    expect(await refusal(verifier.verify(again ? token : await fresh()))).toBe('invalid unknown-key');
    expect(issuer.count()).toBe(2);
  });

  it('that are unchanged do not cause another verification', async () => {
    const clock = movableClock();
    using verifier = openVerifier({ oauth: oauth(), clock, tokenCacheSeconds: 100_000 });
    const token = await fresh();
    const caller = await verifier.verify(token);
    issuer.serveKeys(old);
    clock.forward(301);
    expect(await verifier.verify(token)).toBe(caller);
    expect(issuer.count()).toBe(2);
  });

  it('of an unavailable issuer serve cached tokens too', async () => {
    const clock = movableClock();
    using verifier = openVerifier({ oauth: oauth(), clock });
    const token = await fresh();
    await verifier.verify(token);
    issuer.serve('/jwks', {}, 503);
    for (const seconds of [301, 10, 3600]) {
      clock.forward(seconds);
      expect((await verifier.verify(token)).subject).toBe('statistiek');
    }
    issuer.serveKeys(rotated);
    const later = (): Promise<string> => {
      // Each time: a fetch that began before the keys existed may end only now, and the next waits from then on.
      clock.forward(31);
      return refusal(verifier.verify(token)).catch(() => 'accepted');
    };
    await expect.poll(later).toBe('invalid unknown-key');
  });

  it('that were never fetched are no fault of the token, and arrive as soon as the issuer is available', async () => {
    const clock = movableClock();
    issuer.serve('/jwks', {}, 404);
    using verifier = openVerifier({ oauth: oauth(), clock });
    for (let i = 0; i < 5; i++)
      expect(await refusal(verifier.verify(await fresh()))).toBe('unavailable keys-unavailable');
    expect(issuer.count()).toBe(1);
    issuer.serveKeys(old);
    clock.forward(6);
    expect((await verifier.verify(await fresh())).subject).toBe('statistiek');
  });

  it.each([
    ['no JSON', 'keys', 200, 'is not JSON'],
    ['not a key set', { keys: 'none' }, 200, 'is not a JSON Web Key Set'],
    ['larger than any key set', `{"keys":[],"x":"${'x'.repeat(300_000)}"}`, 200, 'is larger than 262144 bytes'],
    ['a redirect', '', 302, ''],
  ])('are not taken from an answer that is %s', async (_name, body, status, message) => {
    issuer.serve('/odd', body, status);
    const log = recordingLog();
    using verifier = openVerifier({ oauth: { ...oauth(), jwksUrl: `${issuer.issuer}/odd` }, log });
    expect(await refusal(verifier.verify(await fresh()))).toBe('unavailable keys-unavailable');
    expect(log.text()).toContain(message);
    expect(issuer.count('/jwks')).toBe(0);
  });

  it('that no algorithm may use do not affect the others', async () => {
    issuer.serve('/jwks', {
      keys: [{ kty: 'oct', k: 'AAAA', kid: 'old' }, { kty: 'RSA', kid: 'broken' }, {}, old.publicJwk],
    });
    using verifier = openVerifier({ oauth: oauth() });
    expect((await verifier.verify(await fresh())).subject).toBe('statistiek');
    const broken = await signingKey('broken', 'RS256');
    expect(await refusal(verifier.verify(await fresh(broken)))).toBe('invalid unknown-key');
  });

  it('are no longer fetched when the verifier is closed', async () => {
    issuer.hang('/jwks');
    const log = recordingLog();
    const verifier = openVerifier({ oauth: oauth(), log });
    await issuer.called(1);
    verifier.close();
    expect(await refusal(verifier.verify(await fresh()))).toBe('unavailable keys-unavailable');
    expect(issuer.count()).toBe(1);
    expect(log.lines).toEqual([]);
  });
});

describe('the metadata of the issuer', () => {
  const discovered = () => ({ issuer: issuer.issuer, audience });
  const rfc8414 = '/.well-known/oauth-authorization-server';
  const openid = '/.well-known/openid-configuration';

  it('gets five seconds together with the keys, for which requests wait', async () => {
    for (const path of [rfc8414, openid]) issuer.hang(path);
    const began = performance.now();
    using verifier = openVerifier({ oauth: discovered() });
    expect(await refusal(verifier.verify(await fresh()))).toBe('unavailable keys-unavailable');
    expect(performance.now() - began).toBeLessThan(20_000);
    // No time is left for the second address.
    expect([rfc8414, openid].map((path) => issuer.count(path))).toEqual([1, 0]);
  });

  it.each([rfc8414, openid])('gives the address of the keys at %s', async (path) => {
    issuer.serve(path, { issuer: issuer.issuer, jwks_uri: issuer.jwksUrl });
    using verifier = openVerifier({ oauth: discovered() });
    expect((await verifier.verify(await fresh())).subject).toBe('statistiek');
  });

  it('is found before and after the path of an issuer that has one', async () => {
    const name = `${issuer.issuer}/realms/een`;
    issuer.serve(`${rfc8414}/realms/een`, { issuer: name, jwks_uri: issuer.jwksUrl });
    issuer.serve(`/realms/twee${openid}`, { issuer: `${issuer.issuer}/realms/twee`, jwks_uri: issuer.jwksUrl });
    for (const own of [name, `${issuer.issuer}/realms/twee`]) {
      using verifier = openVerifier({ oauth: { issuer: own, audience } });
      expect((await verifier.verify(bearer(await oauthToken(old, own)))).subject).toBe('statistiek');
    }
  });

  it.each([
    ['of another issuer', { issuer: 'https://elsewhere.example' }, 'metadata of another issuer'],
    ['without an issuer', {}, 'metadata of another issuer'],
    ['with a file as the address of its keys', { jwks_uri: 'file:///etc/passwd' }, 'no usable jwks_uri'],
    ['without a keys address', { jwks_uri: undefined }, 'no usable jwks_uri'],
  ])('is not used when it is %s', async (name, change, message) => {
    const named = name.includes('issuer') ? {} : { issuer: issuer.issuer };
    const metadata = { ...named, jwks_uri: issuer.jwksUrl, ...change };
    for (const path of [rfc8414, openid]) issuer.serve(path, metadata);
    const log = recordingLog();
    using verifier = openVerifier({ oauth: discovered(), log });
    expect(await refusal(verifier.verify(await fresh()))).toBe('unavailable keys-unavailable');
    expect(log.text()).toContain(message);
    expect(issuer.count('/jwks')).toBe(0);
  });
});
