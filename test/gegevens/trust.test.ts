// The requester is the proven one: the client of the token is bound to the signer, a signature has a maximum age, and a signed request is
// answered to its first caller only.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadPemKey } from '../../src/lib/jades/own-key.ts';
import { createSigner, PLAIN_STYLES } from '../../src/lib/jades/signature.ts';
import { ConfigError, readConfig } from '../../src/settings/read-config.ts';
import { craft, kitOf } from '../lib/jades/support/kit.ts';
import type { TestServer } from '../support/server.ts';
import { type RawAnswer, type RawHeaders, send } from './support/requester.ts';
import { FIXTURES, openSupplier, type Supplier } from './support/supplier.ts';

const REQUESTER = '00000099000000001000';
const OTHER = '00000099000000009000';
const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;

let supplier: Supplier;
let bound: TestServer;
beforeAll(async () => {
  supplier = await openSupplier();
  await supplier.import('shv', join(FIXTURES, 'shv-klein.json'));
  await supplier.import('vs', join(FIXTURES, 'vs-klein.json'));
  bound = await supplier.another({
    OAUTH_OIN_CLAIM: 'oin',
    OAUTH_CLIENT_OINS: `statistiek=${REQUESTER},vreemde=${OTHER}`,
  });
});
afterAll(() => supplier.close());

function expectProblem(answer: RawAnswer, status: number, slug: string): void {
  expect(answer.status, answer.text).toBe(status);
  expect(JSON.parse(answer.text).type).toMatch(new RegExp(`/problems/${slug}$`));
}

function expectRefused(answer: RawAnswer): void {
  expect(answer.status, answer.text).toBe(403);
  expect(answer.headers.get('fsc-error-code')).toBe('ERROR_CODE_WRONG_GROUP_ID_IN_TOKEN');
}

const as = (subject: string, claims: Record<string, unknown> = {}) =>
  supplier.tokens.bearer(['read'], { subject, claims });

describe('the client of an OAuth token', () => {
  it.each([
    ["configured with the signer's OIN", 'statistiek', {}, 200],
    ['with the OIN of who signed in its token', 'onbekend', { oin: REQUESTER }, 200],
    ['with another OIN in its token than the configured one', 'statistiek', { oin: OTHER }, 403],
    ["configured with somebody else's OIN", 'vreemde', {}, 403],
    ['with something that is not an OIN in its token', 'statistiek', { oin: 'statistiek' }, 403],
    ['with neither', 'onbekend', {}, 403],
  ])('%s: %s %j gets %i', async (_what, subject, claims, status) => {
    const answer = await supplier.ask({}, { server: bound, headers: await as(subject, claims) });
    if (status === 403) expectRefused(answer);
    else expect(answer.status, answer.text).toBe(200);
  });

  it('with neither is refused only after digest and signature', async () => {
    const headers = await as('onbekend');
    const digest = `SHA-256=${'A'.repeat(43)}=`;
    expectProblem(await supplier.ask({}, { server: bound, headers: { ...headers, digest } }), 400, 'digest-mismatch');
    const broken = { ...headers, 'nlgov-adr-payload-sig': undefined };
    expectProblem(await supplier.ask({}, { server: bound, headers: broken }), 400, 'signature-missing');
    // Later checks do not answer before step 5: the body also violates the contract.
    expectRefused(await supplier.ask({ page: 0 }, { server: bound, headers }));
  });

  it('is recorded with the OIN that signature and token prove', async () => {
    await supplier.get({}, { server: bound, headers: await as('statistiek') });
    const [entry] = await supplier.asOwner('select oin, subject from gegevens.journal order by id desc limit 1');
    expect(entry).toEqual({ oin: REQUESTER, subject: 'statistiek' });
  });

  it('may not name another OIN in its header', async () => {
    const headers = { ...(await as('statistiek')), oin: OTHER };
    expectRefused(await supplier.ask({}, { server: bound, headers }));
  });
});

describe('a server in production', () => {
  const production = () => ({
    ...supplier.env,
    OAUTH_ISSUER: 'https://auth.example',
    OAUTH_JWKS_URL: 'https://auth.example/jwks',
    GEGEVENS_REVOCATION_ALLOW_PRIVATE: 'false',
    NODE_ENV: 'production',
    DATABASE_URL: 'postgres://x@localhost/x',
    PUBLIC_BASE_URL: 'https://koppelvlak.example',
    VERWERKINGENLOG_KEY: `een:${Buffer.alloc(32, 1).toString('base64')}`,
  });
  it('does not start when nothing binds a signer to its token', () => {
    expect(() => readConfig(production(), 'serve')).toThrow(ConfigError);
    expect(() => readConfig(production(), 'serve')).toThrow(
      /OAUTH_CLIENT_OINS .*OAUTH_OIN_CLAIM.*GEGEVENS_ALLOWED_SIGNERS/,
    );
  });
  it.each([
    { OAUTH_OIN_CLAIM: 'oin' },
    { OAUTH_CLIENT_OINS: `a=${OTHER}` },
    { GEGEVENS_ALLOWED_SIGNERS: OTHER },
    { AREAS: 'raadsfeed' },
  ])('starts with %j', (env) => {
    expect(() => readConfig({ ...production(), ...env }, 'serve')).not.toThrow();
  });
  const fsc = { FSC_GROUP_ID: 'groep', FSC_AUDIENCE: 'https://inway.example', FSC_PEER_ID: OTHER };
  it('starts behind an Inway alone: its tokens bind the signer', () => {
    const { OAUTH_ISSUER: _issuer, OAUTH_JWKS_URL: _keys, ...rest } = production();
    const env = { ...rest, ...fsc, FSC_TOKEN_CERTIFICATES: 'https://manager.example/.well-known/jwks.json' };
    expect(() => readConfig(env, 'serve')).not.toThrow();
  });
  it('does not start without the address that clients use', () => {
    const { PUBLIC_BASE_URL: _, ...env } = { ...production(), GEGEVENS_ALLOWED_SIGNERS: OTHER };
    expect(() => readConfig(env, 'serve')).toThrow(/PUBLIC_BASE_URL is missing/);
  });
  it.each([
    ['GEGEVENS_REVOCATION_ALLOW_PRIVATE', { GEGEVENS_REVOCATION_ALLOW_PRIVATE: 'true' }],
    ['OAUTH_ISSUER', { OAUTH_ISSUER: 'http://auth.example' }],
    ['OAUTH_ISSUER', { OAUTH_ISSUER: 'HTTP://127.0.0.1:8080' }],
    ['OAUTH_JWKS_URL', { OAUTH_JWKS_URL: 'http://127.0.0.1:8080/jwks' }],
    ['FSC_TOKEN_CERTIFICATES', { ...fsc, FSC_TOKEN_CERTIFICATES: 'http://manager.example/.well-known/jwks.json' }],
  ])('does not start with test-only settings in %s: %j', (variable, more) => {
    const env = { ...production(), GEGEVENS_ALLOWED_SIGNERS: OTHER, ...more };
    expect(() => readConfig(env, 'serve')).toThrow(new RegExp(`\\n  ${variable} is .*production`));
    expect(() => readConfig({ ...env, NODE_ENV: 'development' }, 'serve')).not.toThrow();
    // None of them is used there.
    expect(() => readConfig({ ...env, AREAS: 'raadsfeed' }, 'serve')).not.toThrow();
  });
  it('lists all test-only settings at once', () => {
    expect(() => readConfig({ ...production(), ...supplier.env, GEGEVENS_ALLOWED_SIGNERS: OTHER }, 'serve')).toThrow(
      /OAUTH_ISSUER is [\s\S]*OAUTH_JWKS_URL is [\s\S]*GEGEVENS_REVOCATION_ALLOW_PRIVATE is /,
    );
  });
  it.each(['a', `a=${OTHER.slice(1)}`, `a=${OTHER},a=${REQUESTER}`, `=${OTHER}`])(
    'does not start with OAUTH_CLIENT_OINS %s',
    (value) => {
      expect(() => readConfig({ ...production(), OAUTH_CLIENT_OINS: value }, 'serve')).toThrow(/OAUTH_CLIENT_OINS/);
    },
  );
});

describe('the age of a signed request', () => {
  /** A request with these times in its protected header, in milliseconds from now. */
  async function askSigned(header: Record<string, unknown>, server?: TestServer): Promise<RawAnswer> {
    const body = Buffer.from('{"page":1}');
    const kit = kitOf(supplier.authority, async () => {});
    const message = craft(kit, { body, header });
    return await supplier.ask(body.toString(), {
      ...(server === undefined ? {} : { server }),
      headers: { 'nlgov-adr-payload-sig': message.signatureHeader, digest: String(message.digestHeader) },
    });
  }
  const seconds = (fromNow: number) => Math.floor((Date.now() + fromNow) / 1000);
  const utc = (fromNow: number) => `${new Date(Date.now() + fromNow).toISOString().slice(0, 19)}Z`;

  it.each([
    ['none', () => ({})],
    ['iat now', () => ({ iat: seconds(0) })],
    ['iat slightly less than a day ago', () => ({ iat: seconds(-DAY + MINUTE) })],
    ['iat a few minutes ahead', () => ({ iat: seconds(4 * MINUTE) })],
    ['sigT now, in crit', () => ({ sigT: utc(0), crit: ['sigT'] })],
    ['exp in a minute', () => ({ exp: seconds(MINUTE) })],
  ])('is accepted: %s', async (_what, header) => {
    const answer = await askSigned(header());
    expect(answer.status, answer.text).toBe(200);
  });

  it.each([
    ['iat more than a day ago', () => ({ iat: seconds(-DAY - MINUTE) }), 'signature-expired'],
    ['sigT more than a day ago', () => ({ sigT: utc(-DAY - MINUTE) }), 'signature-expired'],
    ['sigT long ago with iat now', () => ({ iat: seconds(0), sigT: utc(-2 * DAY) }), 'signature-expired'],
    ['exp a minute ago', () => ({ exp: seconds(-MINUTE) }), 'signature-expired'],
    ['iat more than five minutes ahead', () => ({ iat: seconds(6 * MINUTE) }), 'signature-not-yet-valid'],
    ['sigT more than five minutes ahead', () => ({ sigT: utc(6 * MINUTE) }), 'signature-not-yet-valid'],
  ])('is refused: %s', async (_what, header, slug) => {
    expectProblem(await askSigned(header()), 422, slug);
  });

  it('is configurable', async () => {
    const server = await supplier.another({ 'gegevens.maxSignatureAge': '600000' });
    expectProblem(await askSigned({ iat: seconds(-11 * MINUTE) }, server), 422, 'signature-expired');
    expect((await askSigned({ iat: seconds(-9 * MINUTE) }, server)).status).toBe(200);
  });
});

describe('the same signed request', () => {
  const post = async (variant: 'shv' | 'vs', body: string, headers: RawHeaders) =>
    send(
      `${supplier.server.url}/${variant}/v1/gegevens`,
      'POST',
      { 'content-type': 'application/json', ...headers },
      body,
    );
  const body = '{"page":1,"pageSize":3}';

  it('is answered again to the same caller and variant only', async () => {
    const signed = await supplier.requester.sign(body);
    const own = { ...signed, ...(await as('statistiek')) };
    expect((await post('shv', body, own)).status).toBe(200);
    expectRefused(await post('shv', body, { ...signed, ...(await as('meelezer')) }));
    expectRefused(await post('vs', body, own));
    expect((await post('shv', body, { ...own, ...(await as('statistiek', { jti: 'ander' })) })).status).toBe(200);
  });

  it('cannot be taken from its signer by a caller that was refused with it', async () => {
    const server = await supplier.another({ GEGEVENS_ALLOWED_SIGNERS: OTHER });
    const signed = await supplier.requester.sign(body);
    const stolen = { 'content-type': 'application/json', ...signed, ...(await as('meelezer')) };
    expectRefused(await send(`${server.url}/shv/v1/gegevens`, 'POST', stolen, body));
    expect((await post('shv', body, { ...signed, ...(await as('statistiek')) })).status).toBe(200);
  });

  it('costs and changes nothing when another caller sends it', async () => {
    const signed = await supplier.requester.sign(body);
    const own = { ...signed, ...(await as('statistiek')) };
    expect((await post('shv', body, own)).status).toBe(200);
    const traces = async () =>
      await supplier.asOwner(`select (select count(*) from verwerkingenlog.versies) as logged,
        (select max(created_at) from gegevens.pinned_states where variant = 'shv') as pinned`);
    const before = await traces();
    expectRefused(await post('shv', body, { ...signed, ...(await as('meelezer')) }));
    expectRefused(await post('vs', body, own));
    expect(await traces()).toEqual(before);
  });

  it('from two callers at once is answered to one of them', async () => {
    for (let round = 0; round < 5; round += 1) {
      const signed = await supplier.requester.sign(body);
      const answers = await Promise.all(
        ['een', 'twee', 'drie', 'vier'].map(async (subject) =>
          post('shv', body, { ...signed, ...(await as(subject)) }),
        ),
      );
      expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 403, 403, 403]);
    }
  });
});

describe('revocation', () => {
  it('is waited for as long as configured, and a late answer serves the next request', async () => {
    const { behaviour } = supplier.authority;
    const server = await supplier.another({ GEGEVENS_REVOCATION: 'hard', 'gegevens.ocspTimeoutMs': '50' });
    Object.assign(behaviour, { ocspDelayMs: 500, crl: 'not-found' });
    try {
      expectProblem(await supplier.ask({}, { server }), 422, 'revocation-unknown');
      behaviour.ocspDelayMs = 0;
      await expect.poll(async () => (await supplier.ask({}, { server })).status).toBe(200);
      behaviour.ocsp = 'not-found';
      expect((await supplier.ask({}, { server })).status).toBe(200);
    } finally {
      Object.assign(behaviour, { ocspDelayMs: 0, crl: 'honest', ocsp: 'honest' });
    }
  });

  it('accepts lists up to the configured size', async () => {
    const { behaviour, revoked } = supplier.authority;
    behaviour.ocsp = 'not-found';
    const serials = Array.from({ length: 32_000 }, (_, n) => `40${n.toString(16).padStart(30, '0')}`);
    writeFileSync(revoked, serials.join('\n'));
    try {
      const hard = { GEGEVENS_REVOCATION: 'hard' };
      const server = await supplier.another({ ...hard, 'gegevens.crlMaxMb': '1' });
      expectProblem(await supplier.ask({}, { server }), 422, 'revocation-unknown');
      const wide = await supplier.another({ ...hard, 'gegevens.crlMaxMb': '5' });
      await expect.poll(async () => (await supplier.ask({}, { server: wide })).status).toBe(200);
    } finally {
      behaviour.ocsp = 'honest';
      writeFileSync(revoked, '');
    }
  });
});

describe('a default answer', () => {
  const headerOf = ({ headers }: RawAnswer): Record<string, unknown> =>
    JSON.parse(Buffer.from((headers.get('nlgov-adr-payload-sig') ?? '').split('.')[0] ?? '', 'base64url').toString());

  it.each(['body', 'digest'] as const)('in the %s form states when it was signed', async (form) => {
    const members = headerOf(await supplier.get({}, { style: PLAIN_STYLES[form] }));
    expect(Math.abs(Number(members.iat) * 1000 - Date.now())).toBeLessThan(MINUTE);
    expect(members).not.toHaveProperty('sigT');
    expect(members).toMatchObject({ typ: 'JOSE', kid: expect.any(String), 'x5t#S256': expect.any(String) });
  });

  it('in the digest form is never encoded, even if its request is', async () => {
    const text = '{}';
    const own = loadPemKey(
      {
        key: readFileSync(supplier.authority.requester.key, 'utf8'),
        chain: readFileSync(supplier.authority.requester.chain, 'utf8'),
      },
      new Date(),
    );
    const { digest } = await createSigner({ ...own, now: () => new Date() }).sign(
      Buffer.from(text),
      PLAIN_STYLES.digest,
    );
    const message = craft(
      kitOf(supplier.authority, async () => {}),
      {
        body: Buffer.from(text),
        header: { sigD: { mId: 'http://uri.etsi.org/19182/HttpHeaders', pars: ['digest'] } },
        payload: Buffer.from(`digest: ${digest}`).toString('base64url'),
      },
    );
    const headers = { digest, 'nlgov-adr-payload-sig': message.signatureHeader };
    const members = headerOf(await supplier.get(text, { headers }));
    expect(members).toMatchObject({ b64: false, crit: ['sigD', 'b64'] });
  });
});
