import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Caller } from '../../../src/plugins/oauth/token.ts';
import { audience, type Issuer, oauthToken, signingKey, startIssuer } from './support/issuer.ts';
import { bearer, movableClock, openVerifier, refusal } from './support/verifier.ts';

const seconds = () => Math.floor(Date.now() / 1000);
let issuer: Issuer;
const keys = {
  es256: await signingKey('es', 'ES256'),
  rs256: await signingKey('rs', 'RS256'),
  ps256: await signingKey('ps', 'PS256'),
};
const es = keys.es256;

beforeAll(async () => {
  issuer = await startIssuer();
  issuer.serveKeys(...Object.values(keys));
});
afterAll(() => issuer.close());

const oauth = () => ({ issuer: issuer.issuer, audience, jwksUrl: issuer.jwksUrl });
const token = (claims?: Record<string, unknown>, header?: Record<string, unknown>) =>
  oauthToken(es, issuer.issuer, claims, header);

async function refused(claims?: Record<string, unknown>, header?: Record<string, unknown>): Promise<string> {
  using verifier = openVerifier({ oauth: oauth() });
  const text = await token(claims, header);
  return await refusal(verifier.verify(bearer(text)), text);
}

async function accepted(claims?: Record<string, unknown>, header?: Record<string, unknown>) {
  using verifier = openVerifier({ oauth: oauth() });
  return await verifier.verify(bearer(await token(claims, header)));
}

describe('an OAuth access token', () => {
  it('identifies the caller, the client and the scopes', async () => {
    expect(await accepted({ scope: 'create:normal read:normal', client_id: 'applicatie' })).toEqual({
      kind: 'oauth',
      subject: 'statistiek',
      clientId: 'applicatie',
      scopes: new Set(['create:normal', 'read:normal']),
      tokenHash: expect.stringMatching(/^[\w-]{43}$/),
    });
  });

  it.each(Object.entries(keys))('is accepted with algorithm %s', async (_name, key) => {
    using verifier = openVerifier({ oauth: oauth() });
    const caller = await verifier.verify(bearer(await oauthToken(key, issuer.issuer)));
    expect(caller.subject).toBe('statistiek');
  });

  it.each([
    ['text', { scope: 'a b' }, ['a', 'b']],
    ['text with more spaces', { scope: ' a  b ' }, ['a', 'b']],
    ['list', { scope: ['a', 'b'] }, ['a', 'b']],
    ['scp text', { scope: undefined, scp: 'a b' }, ['a', 'b']],
    ['scp list', { scope: undefined, scp: ['a', 'b'] }, ['a', 'b']],
    ['both', { scope: 'a', scp: ['b'] }, ['a', 'b']],
    ['neither', { scope: undefined }, []],
    ['empty', { scope: '' }, []],
  ])('may write its scopes as %s', async (_name, claims, scopes) => {
    expect([...(await accepted(claims)).scopes]).toEqual(scopes);
  });

  it('may name several audiences', async () => {
    expect((await accepted({ aud: ['https://elsewhere.example', audience] })).kind).toBe('oauth');
  });

  it('is identified by its client when it has no subject', async () => {
    expect((await accepted({ sub: undefined })).subject).toBe('statistiek');
    expect((await accepted({ sub: undefined, client_id: undefined, azp: 'keycloak-client' })).clientId).toBe(
      'keycloak-client',
    );
  });

  it('names the delegate that acts for its subject', async () => {
    expect((await accepted({ act: { sub: 'delegate' } })).actor).toBe('delegate');
  });

  it.each(['at+jwt', 'AT+JWT', 'application/at+jwt', 'JWT', undefined])('may have the type %s', async (typ) => {
    expect((await accepted({}, { typ })).subject).toBe('statistiek');
  });

  it.each([
    ['another type, such as a logout token', {}, { typ: 'logout+jwt' }, 'invalid type'],
    ['an unknown key', {}, { kid: 'other' }, 'invalid unknown-key'],
    ['another issuer', { iss: 'https://elsewhere.example' }, {}, 'invalid issuer'],
    ['no issuer', { iss: undefined }, {}, 'invalid issuer'],
    ['an issuer that only starts like ours', { iss: 'http://127.0.0.1' }, {}, 'invalid issuer'],
    ['another audience', { aud: 'https://elsewhere.example' }, {}, 'invalid audience'],
    ['several other audiences', { aud: ['a', 'b'] }, {}, 'invalid audience'],
    ['no audience', { aud: undefined }, {}, 'invalid audience'],
    ['an audience of another type', { aud: [{}] }, {}, 'invalid audience'],
    ['no end', { exp: undefined }, {}, 'invalid claims-malformed'],
    ['an expiry as text', { exp: '9999999999' }, {}, 'invalid claims-malformed'],
    ['a start as text', { nbf: 'now' }, {}, 'invalid claims-malformed'],
    ['a start in the future', { nbf: seconds() + 90 }, {}, 'invalid not-yet-valid'],
    ['an end in the past', { exp: seconds() - 90 }, {}, 'expired expired'],
    ['neither subject nor client', { sub: undefined, client_id: undefined }, {}, 'invalid claims-malformed'],
    ['a subject of another type', { sub: 5 }, {}, 'invalid claims-malformed'],
    ['scopes of another type', { scope: { read: true } }, {}, 'invalid claims-malformed'],
    ['a delegate of another type', { act: 'delegate' }, {}, 'invalid claims-malformed'],
    ['a DPoP key binding', { cnf: { jkt: 'thumbprint' } }, {}, 'invalid not-bound'],
    [
      'a client certificate binding without a passed-on certificate',
      { cnf: { 'x5t#S256': 'thumbprint' } },
      {},
      'invalid client-certificate-absent',
    ],
  ])('is checked for %s', async (_name, claims, header, verdict) => {
    expect(await refused(claims, header)).toBe(verdict);
  });

  it('may omit the key name: all keys that fit its algorithm are tried, up to sixteen', async () => {
    expect((await accepted({}, { kid: undefined })).kind).toBe('oauth');
    const others = await Promise.all(Array.from({ length: 16 }, (_, i) => signingKey(`other-${i}`, 'ES256')));
    const served = async (count: number) => {
      issuer.serve(`/${count}`, { keys: [...others.slice(0, count), es].map(({ publicJwk }) => publicJwk) });
      return openVerifier({ oauth: { ...oauth(), jwksUrl: `${issuer.issuer}/${count}` } });
    };
    const text = await token({}, { kid: undefined });
    for (const count of [1, 15]) {
      using verifier = await served(count);
      expect((await verifier.verify(bearer(text))).kind).toBe('oauth');
      expect((await verifier.verify(bearer(await token()))).kind).toBe('oauth');
      const forged = await oauthToken(await signingKey('es', 'ES256'), issuer.issuer, {}, { kid: undefined });
      expect(await refusal(verifier.verify(bearer(forged)), forged)).toBe('invalid signature');
    }
    using verifier = await served(16);
    expect(await refusal(verifier.verify(bearer(text)), text)).toBe('invalid signature');
  });

  it('may be 30 seconds off at both ends, and no more', async () => {
    expect((await accepted({ nbf: seconds() + 20 })).kind).toBe('oauth');
    expect((await accepted({ exp: seconds() - 20 })).kind).toBe('oauth');
    expect(await refused({ nbf: seconds() + 40 })).toBe('invalid not-yet-valid');
    expect(await refused({ exp: seconds() - 31 })).toBe('expired expired');
  });

  it('that expired and has another fault is called invalid, not expired', async () => {
    expect(await refused({ exp: seconds() - 90, aud: 'https://elsewhere.example' })).toBe('invalid audience');
    using verifier = openVerifier({ oauth: oauth() });
    const text = await token({ exp: seconds() - 90 });
    expect(await refusal(verifier.verify(bearer(`${text.slice(0, -4)}AAAA`)))).toBe('invalid signature');
  });

  it('is refused when no issuer is configured', async () => {
    using verifier = openVerifier({});
    expect(await refusal(verifier.verify(bearer(await token())))).toBe('invalid no-issuer-configured');
    expect(await refusal(verifier.verify({}))).toBe('missing no-token');
  });
});

describe('a verified token', () => {
  it('is cached until it expires', async () => {
    const clock = movableClock();
    using verifier = openVerifier({ oauth: oauth(), clock });
    const text = await token({ exp: seconds() + 100 });
    const caller = await verifier.verify(bearer(text));
    expect(await verifier.verify(bearer(text))).toBe(caller);
    clock.forward(101);
    const again = await verifier.verify(bearer(text));
    expect(again).not.toBe(caller);
    expect(again.subject).toBe('statistiek');
    clock.forward(30);
    expect(await refusal(verifier.verify(bearer(text)))).toBe('expired expired');
  });

  it('is not cached when it was refused', async () => {
    using verifier = openVerifier({ oauth: oauth() });
    const text = await token({ aud: 'https://elsewhere.example' });
    for (let i = 0; i < 2; i++) expect(await refusal(verifier.verify(bearer(text)))).toBe('invalid audience');
  });

  it('is evicted for others, the least recently used first', async () => {
    using verifier = openVerifier({ oauth: oauth(), tokenCacheBytes: 6000 });
    const [first, second, third] = [await token({ sub: 'a' }), await token({ sub: 'b' }), await token({ sub: 'c' })];
    const callers: Caller[] = [];
    for (const text of [first, second, first, third, first, second]) callers.push(await verifier.verify(bearer(text)));
    expect(callers.map((caller) => callers.indexOf(caller))).toEqual([0, 1, 0, 3, 0, 5]);
  });

  it.each([
    ['its claim', { oin: '00000001000000000007', client_id: 'statistiek' }, '00000001000000000007'],
    ["its client's, without the claim", { client_id: 'statistiek' }, '00000001000000000001'],
    ["its subject's, without a client", { client_id: undefined, sub: 'statistiek' }, '00000001000000000001'],
    ['none for another client', { client_id: 'ander', sub: 'statistiek' }, undefined],
    ['none if the claim is not an OIN', { oin: 'x', client_id: 'statistiek' }, undefined],
    ['none if the claim is a list', { oin: ['00000001000000000007'], client_id: 'statistiek' }, undefined],
  ])('has %s as its OIN', async (_what, claims, oin) => {
    const clientOins = new Map([['statistiek', '00000001000000000001']]);
    using verifier = openVerifier({ oauth: { ...oauth(), oinClaim: 'oin', clientOins } });
    expect((await verifier.verify(bearer(await token(claims)))).oin).toBe(oin);
  });
});
