import { createHmac } from 'node:crypto';
import { exportSPKI } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { audience, type Issuer, oauthToken, signingKey, startIssuer } from './support/issuer.ts';
import { bearer, openVerifier, recordingLog, refusal } from './support/verifier.ts';

const key = await signingKey('rs', 'RS256');
const thief = await signingKey('rs', 'RS256');
let issuer: Issuer;

beforeAll(async () => {
  issuer = await startIssuer();
  issuer.serveKeys(key);
  issuer.serve('/thief', { keys: [thief.publicJwk] });
});
afterAll(() => issuer.close());

const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
const claims = () => ({
  iss: issuer.issuer,
  aud: audience,
  sub: 'thief',
  scope: 'read',
  exp: Math.floor(Date.now() / 1000) + 300,
});

async function verdict(token: string): Promise<string> {
  const log = recordingLog();
  using verifier = openVerifier({ oauth: { issuer: issuer.issuer, audience, jwksUrl: issuer.jwksUrl }, log });
  const answer = await refusal(verifier.verify(bearer(token)), token);
  expect(log.text()).toBe('');
  return answer;
}

describe('a forged token is refused', () => {
  it.each(['none', 'None', 'NONE', ''])('without a signature, algorithm "%s"', async (alg) => {
    expect(await verdict(`${encode({ alg, kid: 'rs' })}.${encode(claims())}.`)).toBe('invalid algorithm');
  });

  it.each(['HS256', 'HS384', 'HS512'])('with %s over the public key, in the forms a library might use', async (alg) => {
    const secrets = [await exportSPKI(key.pair.publicKey), JSON.stringify(key.publicJwk), key.publicJwk.n ?? ''];
    for (const secret of secrets) {
      const input = `${encode({ alg, kid: 'rs', typ: 'at+jwt' })}.${encode(claims())}`;
      const mac = createHmac(`sha${alg.slice(2)}`, secret)
        .update(input)
        .digest('base64url');
      expect(await verdict(`${input}.${mac}`)).toBe('invalid algorithm');
    }
  });

  it('with the right key name and another key', async () => {
    expect(await verdict(await oauthToken(thief, issuer.issuer))).toBe('invalid signature');
  });

  it('with an allowed algorithm that does not match the key', async () => {
    const other = await signingKey('rs', 'PS256');
    expect(await verdict(await oauthToken(other, issuer.issuer))).toBe('invalid unknown-key');
    const curve = await signingKey('rs', 'ES256');
    expect(await verdict(await oauthToken(curve, issuer.issuer))).toBe('invalid unknown-key');
  });

  it.each(['RS384', 'RS512', 'PS384', 'ES384', 'EdDSA'])(
    'with the algorithm %s, which OAuth tokens may not use',
    async (alg) => {
      const other = await signingKey('rs', alg);
      expect(await verdict(await oauthToken(other, issuer.issuer))).toBe('invalid algorithm');
    },
  );

  it.each(['../../jwks', '/dev/null', 'rs\u0000', "rs' or '1'='1", '__proto__', 'constructor', 'RS', ' rs', ''])(
    'with the key name %j',
    async (kid) => {
      expect(await verdict(await oauthToken(thief, issuer.issuer, {}, { kid }))).toBe('invalid unknown-key');
    },
  );

  it('with a key name that is not a string', async () => {
    expect(await verdict(`${encode({ alg: 'RS256', kid: 5 })}.${encode(claims())}.AAAA`)).toBe('invalid malformed');
  });

  it('with its own key in the header: jwk, jku, x5u and x5c are ignored', async () => {
    const header = {
      jwk: thief.publicJwk,
      jku: `${issuer.issuer}/thief`,
      x5u: `${issuer.issuer}/thief`,
      x5c: ['AAAA'],
    };
    expect(await verdict(await oauthToken(thief, issuer.issuer, {}, header))).toBe('invalid signature');
    expect(await verdict(await oauthToken(thief, issuer.issuer, {}, { ...header, kid: 'thief' }))).toBe(
      'invalid unknown-key',
    );
    expect(issuer.count('/thief')).toBe(0);
  });

  it('with changed claims under a good signature', async () => {
    const [header, , signature] = (await oauthToken(key, issuer.issuer)).split('.');
    expect(await verdict(`${header}.${encode({ ...claims(), scope: 'register:write' })}.${signature}`)).toBe(
      'invalid signature',
    );
  });

  it('with an unencoded payload', async () => {
    const header = encode({ alg: 'RS256', kid: 'rs', b64: false, crit: ['b64'] });
    expect(await verdict(`${header}.${encode(claims())}.AAAA`)).toBe('invalid critical-header');
  });

  it('with a signature of a payload that is not a claims set', async () => {
    for (const payload of ['[]', '"text"', 'null', '{', '{"iss":"\xff"}']) {
      const input = `${encode({ alg: 'RS256', kid: 'rs' })}.${Buffer.from(payload, 'latin1').toString('base64url')}`;
      const bytes = await crypto.subtle.sign('RSASSA-PKCS1-v1_5', key.pair.privateKey, Buffer.from(input));
      expect(await verdict(`${input}.${Buffer.from(bytes).toString('base64url')}`)).toBe('invalid claims-malformed');
    }
  });

  it('with five parts, as encrypted tokens have', async () => {
    expect(await verdict('AAAA.AAAA.AAAA.AAAA.AAAA')).toBe('invalid malformed');
  });

  it('when it is larger than any real token', async () => {
    const large = await oauthToken(key, issuer.issuer, { padding: 'x'.repeat(100_000) });
    expect(await verdict(large)).toBe('invalid too-large');
  });
});
