import { createPrivateKey, createPublicKey, hash, X509Certificate } from 'node:crypto';
import { SignJWT } from 'jose';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type FscTokenOptions, mintFscToken } from '../../support/fsc-token.ts';
import { ecKeys, pemFile, replaceFile, rsaKeys, selfSigned } from './support/certificate.ts';
import { type Issuer, audience as oauthAudience, oauthToken, signingKey, startIssuer } from './support/issuer.ts';
import { bearer, movableClock, openVerifier, refusal } from './support/verifier.ts';

const manager = await selfSigned(rsaKeys());
const stranger = await selfSigned(rsaKeys());
const client = await selfSigned(ecKeys());
const otherClient = await selfSigned(ecKeys());

const group = { groupId: 'fsc.voorbeeld', peerId: '00000001000000000001' };
const own = { ...group, audience: 'https://inway.example' };
const fsc = {
  ...group,
  audiences: ['https://inway-a.example/', 'https://inway.example'],
  certificates: pemFile(manager.certificate),
};
const requester = '00000001000000000002';
const defaults: FscTokenOptions = { ...own, ...manager, service: 'shv', subject: requester };
const mint = (change: Partial<FscTokenOptions> = {}) => mintFscToken({ ...defaults, ...change });
const certificateHeader = (der: Buffer) => ({ clientCertificate: [`:${der.toString('base64')}:`] });

async function refused(change: Partial<FscTokenOptions>, service = 'shv'): Promise<string> {
  using verifier = openVerifier({ fsc });
  const token = await mint(change);
  return await refusal(verifier.verify(bearer(token), service), token);
}

describe('an FSC access token', () => {
  it('identifies the calling peer, and grants reading', async () => {
    using verifier = openVerifier({ fsc });
    const issuedAt = new Date(Math.floor(Date.now() / 1000) * 1000);
    const token = await mint({ issuedAt, lifetimeSeconds: 60 });
    expect(await verifier.verify({ fscAuthorization: [token] }, 'shv')).toEqual({
      kind: 'fsc',
      subject: requester,
      oin: requester,
      scopes: new Set(['read']),
      tokenHash: expect.stringMatching(/^[\w-]{43}$/),
    });
  });

  it.each(['https://inway.example', 'https://inway.example/', 'https://inway-a.example', 'https://inway-a.example/'])(
    'may be for any of our own Inways, with or without a trailing slash: %s',
    async (audience) => {
      using verifier = openVerifier({ fsc });
      expect((await verifier.verify(bearer(await mint({ audience })), 'shv')).kind).toBe('fsc');
    },
  );

  it('is refused for an address that only begins like one of our Inways', async () => {
    for (const audience of ['https://inway.example//', 'https://inway.example/x', 'https://inway.exampl']) {
      expect(await refused({ audience })).toBe('invalid audience');
    }
  });

  it('names the delegate that acts for the peer', async () => {
    using verifier = openVerifier({ fsc });
    const actor = '00000001000000000003';
    expect((await verifier.verify(bearer(await mint({ actor })), 'shv')).actor).toBe(actor);
  });

  it.each(['RS256', 'RS384', 'RS512'])('may be signed with %s', async (algorithm) => {
    using verifier = openVerifier({ fsc });
    expect((await verifier.verify(bearer(await mint({ algorithm })), 'shv')).kind).toBe('fsc');
  });

  it.each(['P-256', 'P-384', 'P-521'])(
    'may be signed with a key on curve %s, by any certificate of the bundle',
    async (curve) => {
      const other = await selfSigned(ecKeys(curve));
      using verifier = openVerifier({
        fsc: { ...fsc, certificates: pemFile(`text\n${manager.certificate}\n${other.certificate}`) },
      });
      expect((await verifier.verify(bearer(await mint(other)), 'shv')).kind).toBe('fsc');
      expect((await verifier.verify(bearer(await mint()), 'shv')).kind).toBe('fsc');
    },
  );

  it.each([
    ['by an unknown certificate', { ...stranger }, 'invalid unknown-key'],
    ['by another key under a known name', { key: stranger.key }, 'invalid signature'],
    ['with an algorithm that is not of the list', { algorithm: 'PS256' }, 'invalid algorithm'],
    ['for another audience', { audience: 'https://other-inway.example' }, 'invalid audience'],
    ['by another peer', { peerId: '00000001000000000009' }, 'invalid issuer'],
    ['for a peer that is not an OIN', { subject: 'peer' }, 'invalid claims-malformed'],
    ['with a delegate that is not an OIN', { actor: 'delegate' }, 'invalid claims-malformed'],
    ['that is not valid yet', { issuedAt: new Date(Date.now() + 60_000) }, 'invalid not-yet-valid'],
    ['that expired', { issuedAt: new Date(Date.now() - 600_000) }, 'expired expired'],
    ['for another group', { groupId: 'other' }, 'wrong-group group'],
    ['for another service', { service: 'vs' }, 'wrong-service service'],
    ['that expired and is for another group', { issuedAt: new Date(0), groupId: 'other' }, 'expired expired'],
    ['for another group and another service', { groupId: 'other', service: 'vs' }, 'wrong-group group'],
    ['for another group, by another key', { groupId: 'other', key: stranger.key }, 'invalid signature'],
  ])('is refused when issued %s', async (_name, change, verdict) => {
    expect(await refused(change)).toBe(verdict);
  });

  it.each(['gid', 'svc', 'sub', 'exp'])('is refused without the claim %s', async (name) => {
    const thumbprint = hash('sha256', manager.der, 'base64url');
    const exp = Math.floor(Date.now() / 1000) + 60;
    const claims = {
      gid: own.groupId,
      svc: 'shv',
      sub: requester,
      iss: own.peerId,
      aud: own.audience,
      exp,
      [name]: undefined,
    };
    const token = await new SignJWT(claims)
      .setProtectedHeader({ alg: 'RS256', 'x5t#S256': thumbprint })
      .sign(createPrivateKey(manager.key));
    using verifier = openVerifier({ fsc });
    expect(await refusal(verifier.verify(bearer(token), 'shv'), token)).toBe('invalid claims-malformed');
  });

  it.each([
    ['expired', { validFrom: -20, validTo: -10 }],
    ['not valid yet', { validFrom: 10, validTo: 20 }],
  ])('is refused when its certificate is %s', async (_name, validity) => {
    const other = await selfSigned(ecKeys(), validity);
    using verifier = openVerifier({ fsc: { ...fsc, certificates: pemFile(other.certificate) } });
    expect(await refusal(verifier.verify(bearer(await mint(other)), 'shv'))).toBe('invalid certificate-not-valid');
  });

  it('is not cached longer than its certificate is valid', async () => {
    const clock = movableClock();
    const other = await selfSigned(ecKeys(), { validTo: 1 });
    using verifier = openVerifier({ fsc: { ...fsc, certificates: pemFile(other.certificate) }, clock });
    const token = bearer(await mint({ ...other, lifetimeSeconds: 200_000 }));
    await verifier.verify(token, 'shv');
    clock.forward(100_000);
    expect(await refusal(verifier.verify(token, 'shv'))).toBe('invalid certificate-not-valid');
  });

  it('when cached is still for one service only', async () => {
    using verifier = openVerifier({ fsc });
    const token = bearer(await mint());
    await verifier.verify(token, 'shv');
    expect(await refusal(verifier.verify(token, 'vs'))).toBe('wrong-service service');
    expect((await verifier.verify(token, 'shv')).scopes).toEqual(new Set(['read']));
  });

  it('grants no scope without an FSC service', async () => {
    using verifier = openVerifier({ fsc });
    const token = bearer(await mint());
    expect((await verifier.verify(token)).scopes).toEqual(new Set());
    expect((await verifier.verify(token, 'shv')).scopes).toEqual(new Set(['read']));
    expect((await verifier.verify(token)).scopes).toEqual(new Set());
  });
});

describe('the binding of a token to a client certificate', () => {
  it('is left to the Inway when the certificate is not passed on, whatever the client sends', async () => {
    using verifier = openVerifier({ fsc });
    const token = bearer(await mint({ boundTo: client.certificate }));
    expect((await verifier.verify(token, 'shv')).kind).toBe('fsc');
    expect((await verifier.verify({ ...token, ...certificateHeader(otherClient.der) }, 'shv')).kind).toBe('fsc');
  });

  it('is checked on every use when it is passed on', async () => {
    using verifier = openVerifier({ fsc, clientCertificates: true });
    const token = bearer(await mint({ boundTo: client.certificate }));
    const by = (certificate: object) => verifier.verify({ ...token, ...certificate }, 'shv');
    expect(await refusal(by(certificateHeader(otherClient.der)))).toBe('invalid client-certificate-mismatch');
    expect((await by(certificateHeader(client.der))).kind).toBe('fsc');
    expect(await refusal(by(certificateHeader(otherClient.der)))).toBe('invalid client-certificate-mismatch');
    expect(await refusal(by({}))).toBe('invalid client-certificate-absent');
    expect(await refusal(by({ clientCertificate: ['certificate'] }))).toBe('invalid client-certificate-malformed');
    const twice = Array(2).fill(certificateHeader(client.der).clientCertificate).flat();
    expect(await refusal(by({ clientCertificate: twice }))).toBe('invalid header-repeated');
  });

  it('is required when the certificate is passed on', async () => {
    using verifier = openVerifier({ fsc, clientCertificates: true });
    const request = { ...bearer(await mint()), ...certificateHeader(client.der) };
    expect(await refusal(verifier.verify(request, 'shv'))).toBe('invalid not-bound');
  });

  it('is checked before the group, so that a stolen token reveals nothing', async () => {
    using verifier = openVerifier({ fsc, clientCertificates: true });
    const request = {
      ...bearer(await mint({ boundTo: client.certificate, groupId: 'other' })),
      ...certificateHeader(otherClient.der),
    };
    expect(await refusal(verifier.verify(request, 'shv'))).toBe('invalid client-certificate-mismatch');
  });
});

describe('two kinds of issuer', () => {
  let issuer: Issuer;
  const key = signingKey('es', 'ES256');
  beforeAll(async () => {
    issuer = await startIssuer();
    issuer.serveKeys(await key);
  });
  afterAll(() => issuer.close());
  const oauth = () => ({ issuer: issuer.issuer, audience: oauthAudience, jwksUrl: issuer.jwksUrl });

  it('are distinguished by the certificate that the header names', async () => {
    using verifier = openVerifier({ oauth: oauth(), fsc });
    expect((await verifier.verify(bearer(await oauthToken(await key, issuer.issuer)), 'shv')).kind).toBe('oauth');
    expect((await verifier.verify(bearer(await mint()), 'shv')).kind).toBe('fsc');
  });

  it('are each enabled by their configuration', async () => {
    using onlyOAuth = openVerifier({ oauth: oauth() });
    expect(await refusal(onlyOAuth.verify(bearer(await mint()), 'shv'))).toBe('invalid unknown-key');
    using onlyFsc = openVerifier({ fsc });
    const token = bearer(await oauthToken(await key, issuer.issuer));
    expect(await refusal(onlyFsc.verify(token, 'shv'))).toBe('invalid no-issuer-configured');
  });

  it('do not vouch for each other', async () => {
    using verifier = openVerifier({ oauth: oauth(), fsc });
    const named = { 'x5t#S256': hash('sha256', manager.der, 'base64url') };
    const token = await oauthToken(await key, issuer.issuer, {}, named);
    expect(await refusal(verifier.verify(bearer(token), 'shv'))).toBe('invalid algorithm');
  });

  it('bind to a client certificate alike (RFC 8705)', async () => {
    using verifier = openVerifier({ oauth: oauth(), clientCertificates: true });
    const cnf = { 'x5t#S256': hash('sha256', client.der, 'base64url') };
    const bound = bearer(await oauthToken(await key, issuer.issuer, { cnf }));
    expect((await verifier.verify({ ...bound, ...certificateHeader(client.der) })).kind).toBe('oauth');
    expect(await refusal(verifier.verify({ ...bound, ...certificateHeader(otherClient.der) }))).toBe(
      'invalid client-certificate-mismatch',
    );
    expect((await verifier.verify(bearer(await oauthToken(await key, issuer.issuer)))).kind).toBe('oauth');
  });
});

describe('the FSC certificates', () => {
  it('report the expiry of the last of them', async () => {
    const short = await selfSigned(ecKeys(), { validTo: 10 });
    using verifier = openVerifier({ fsc: { ...fsc, certificates: pemFile(short.certificate + manager.certificate) } });
    expect(verifier.fscValidUntil()).toEqual(new X509Certificate(manager.certificate).validToDate);
    using none = openVerifier({});
    expect(none.fscValidUntil()).toBeUndefined();
  });

  it.each([
    ['none', '', 'hold no PEM certificate'],
    ['a broken one', '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----', 'certificate 1 cannot be read'],
  ])('are refused at start-up when there is %s', (_name, certificates, message) => {
    expect(() => openVerifier({ fsc: { ...fsc, certificates: pemFile(certificates) } })).toThrow(message);
  });

  it('are refused at start-up when a key is too short or of an unusable kind', async () => {
    const short = await selfSigned(rsaKeys(1024));
    expect(() =>
      openVerifier({ fsc: { ...fsc, certificates: pemFile(manager.certificate + short.certificate) } }),
    ).toThrow('certificate 2 has neither an RSA key of 2048 bits');
  });
});

describe('changed FSC certificates', () => {
  it('are loaded without a restart, and tokens verified by the old ones are refused', async () => {
    const next = await selfSigned(ecKeys());
    const file = pemFile(manager.certificate);
    using verifier = openVerifier({ fsc: { ...fsc, certificates: file } });
    const old = bearer(await mint());
    await verifier.verify(old, 'shv');
    replaceFile(file, next.certificate);
    await expect
      .poll(async () => (await verifier.verify(bearer(await mint(next)), 'shv').catch(() => undefined))?.kind)
      .toBe('fsc');
    expect(await refusal(verifier.verify(old, 'shv'))).toBe('invalid unknown-key');
  });

  it('that are unusable leave the old ones in place, with a warning in readiness', async () => {
    const file = pemFile(manager.certificate);
    using verifier = openVerifier({ fsc: { ...fsc, certificates: file } });
    replaceFile(file, 'no certificate');
    const [check] = verifier.checks;
    await expect.poll(async () => (await check?.check())?.warning).toContain('hold no PEM certificate');
    expect((await verifier.verify(bearer(await mint()), 'shv')).kind).toBe('fsc');
  });
});

describe('FSC certificates published by a Manager', () => {
  const x5c = (der: Buffer) => [der.toString('base64')];
  const jwk = (made: { key: string; der: Buffer }, thumbprint = true) => ({
    ...createPublicKey(made.key).export({ format: 'jwk' }),
    ...(thumbprint ? { 'x5t#S256': hash('sha256', made.der, 'base64url') } : {}),
  });
  let publisher: Issuer;
  beforeEach(async () => {
    publisher = await startIssuer();
  });
  afterEach(() => publisher.close());
  const published = () => ({ ...fsc, certificates: `${publisher.issuer}/.well-known/jwks.json` });
  const path = '/.well-known/jwks.json';

  it('are fetched, with their certificates or by thumbprint', async () => {
    const other = await selfSigned(ecKeys());
    publisher.serve(path, { keys: [{ kty: 'RSA' }, { ...jwk(manager, false), x5c: x5c(manager.der) }, jwk(other)] });
    using verifier = openVerifier({ fsc: published() });
    expect((await verifier.verify(bearer(await mint()), 'shv')).kind).toBe('fsc');
    expect((await verifier.verify(bearer(await mint(other)), 'shv')).kind).toBe('fsc');
    expect(verifier.fscValidUntil()).toEqual(new X509Certificate(manager.certificate).validToDate);
    expect(publisher.count(path)).toBe(1);
  });

  it('are fetched again for a new one, and a withdrawn one stops within the cache time', async () => {
    const clock = movableClock();
    const other = await selfSigned(ecKeys());
    publisher.serve(path, { keys: [jwk(manager)] });
    using verifier = openVerifier({ fsc: published(), clock, keysCacheSeconds: 120 });
    const old = bearer(await mint());
    await verifier.verify(old, 'shv');
    publisher.serve(path, { keys: [jwk(other)] });
    expect((await verifier.verify(bearer(await mint(other)), 'shv')).kind).toBe('fsc');
    expect(await refusal(verifier.verify(old, 'shv'))).toBe('invalid unknown-key');
  });

  it('are refused under the thumbprint of another certificate, and a key set without usable keys is unavailable', async () => {
    publisher.serve(path, { keys: [{ x5c: x5c(stranger.der), 'x5t#S256': hash('sha256', manager.der, 'base64url') }] });
    using verifier = openVerifier({ fsc: published() });
    expect(await refusal(verifier.verify(bearer(await mint()), 'shv'))).toBe('unavailable keys-unavailable');
    expect(await verifier.checks[0]?.check()).toMatchObject({ ok: false });
  });
});
