import { createHash, generateKeyPairSync, X509Certificate } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readJournal } from '../../src/gegevens/store/journal.ts';
import { createAuthority } from '../../src/lib/authority/authority.ts';
import { type FscTokenOptions, mintFscToken } from '../support/fsc-token.ts';
import { type RawAnswer, type RawHeaders, send } from './support/requester.ts';
import { FIXTURES, openSupplier, type Supplier } from './support/supplier.ts';

const GROUP = 'fsc-test';
const AUDIENCE = 'https://inway.example:443';
const PEER = '00000099000000002000';
const REQUESTER = '00000099000000001000';
const OTHER = '00000099000000009000';
const PUBLISHER = '00000099000000003000';

let supplier: Supplier;
const managerDir = mkdtempSync(join(tmpdir(), 'manager-'));
let managerKey: string;
let managerCertificate: string;
let clientCertificate: string;

beforeAll(async () => {
  // The Manager signs with its own certificate; any key pair of the authority will do.
  const manager = await createAuthority({
    dir: join(FIXTURES, '../../../node_modules/.cache/gegevens-manager'),
    port: 0,
  });
  managerKey = readFileSync(manager.supplier.key, 'utf8');
  managerCertificate = readFileSync(manager.supplier.certificate, 'utf8');
  clientCertificate = readFileSync(manager.requester.certificate, 'utf8');
  await manager.close();
  supplier = await openSupplier({
    env: {
      FSC_TOKEN_CERTIFICATES: manager.supplier.certificate,
      FSC_GROUP_ID: GROUP,
      FSC_AUDIENCE: AUDIENCE,
      FSC_PEER_ID: PEER,
    },
  });
  await supplier.import('shv', join(FIXTURES, 'shv-klein.json'));
});
afterAll(async () => {
  await supplier.close();
  rmSync(managerDir, { recursive: true });
});

function fscToken(wishes: Partial<FscTokenOptions> = {}): Promise<string> {
  return mintFscToken({
    key: managerKey,
    certificate: managerCertificate,
    groupId: GROUP,
    peerId: PEER,
    audience: AUDIENCE,
    service: 'shv',
    subject: REQUESTER,
    ...wishes,
  });
}

const withoutToken = { authorization: undefined };
const withFsc = async (wishes: Partial<FscTokenOptions> = {}, scheme = 'Bearer '): Promise<RawHeaders> => ({
  ...withoutToken,
  'fsc-authorization': `${scheme}${await fscToken(wishes)}`,
});

function expectFsc(answer: RawAnswer, status: number, code: string, challenge?: string): void {
  const domain = code === 'ERROR_CODE_METHOD_UNSUPPORTED' ? 'ERROR_DOMAIN_OUTWAY' : 'ERROR_DOMAIN_INWAY';
  expect(answer.status, answer.text).toBe(status);
  expect(answer.headers.get('content-type')).toMatch(/^application\/problem\+json/);
  expect(answer.headers.get('fsc-error-code')).toBe(code);
  expect(JSON.parse(answer.text)).toMatchObject({ code, domain, status });
  expect(Object.keys(JSON.parse(answer.text)).toSorted()).toEqual(
    expect.arrayContaining(['code', 'domain', 'status', 'title']),
  );
  expect(answer.headers.get('www-authenticate')).toBe(challenge ?? null);
  expect(answer.headers.get('api-version')).toBe('1.0.0');
}

const INVALID = 'Bearer error="invalid_token"';

describe('OAuth tokens', () => {
  it('requires a token', async () => {
    expectFsc(await supplier.ask({}, { headers: withoutToken }), 401, 'ERROR_CODE_ACCESS_TOKEN_MISSING', 'Bearer');
  });

  it('requires a token before it reads any of the body', async () => {
    const answer = await send(`${supplier.server.url}/shv/v1/gegevens`, 'POST', { 'content-type': 'text/plain' }, '{');
    expectFsc(answer, 401, 'ERROR_CODE_ACCESS_TOKEN_MISSING', 'Bearer');
  });

  it.each([
    ['unreadable', 'Bearer no.token.here'],
    ['of another scheme', 'Basic dXNlcjpwYXNz'],
  ])('refuses a token that is %s', async (_what, authorization) => {
    const answer = await supplier.ask({}, { headers: { authorization } });
    expect(answer.status).toBe(401);
    expect(answer.headers.get('fsc-error-code')).toMatch(/^ERROR_CODE_ACCESS_TOKEN_(INVALID|MISSING)$/);
  });

  it.each([
    ['another issuer', { iss: 'https://elsewhere.example' }],
    ['another audience', { aud: 'https://elsewhere.example' }],
    ['a start in the future', { nbf: Math.floor(Date.now() / 1000) + 600 }],
  ])('refuses a token with %s', async (_what, claims) => {
    const headers = await supplier.tokens.bearer(['read'], { claims });
    expectFsc(await supplier.ask({}, { headers }), 401, 'ERROR_CODE_ACCESS_TOKEN_INVALID', INVALID);
  });

  it('refuses a token that was modified or is unsigned', async () => {
    const [header = '', claims = '', signature = ''] = (await supplier.tokens.token(['read'])).split('.');
    const none = Buffer.from('{"alg":"none","typ":"at+jwt"}').toString('base64url');
    const other = (await supplier.tokens.token(['read'], { subject: 'other' })).split('.')[1];
    for (const token of [`${header}.${other}.${signature}`, `${none}.${claims}.`, `${none}.${claims}.${signature}`]) {
      const answer = await supplier.ask({}, { headers: { authorization: `Bearer ${token}` } });
      expectFsc(answer, 401, 'ERROR_CODE_ACCESS_TOKEN_INVALID', INVALID);
    }
  });

  it('checks the client certificate that a token is bound to, when the proxy passes it on', async () => {
    const server = await supplier.another({ CLIENT_CERT_HEADER: 'Client-Cert' });
    const { raw } = new X509Certificate(clientCertificate);
    const claims = { cnf: { 'x5t#S256': createHash('sha256').update(raw).digest('base64url') } };
    const bound = await supplier.tokens.bearer(['read'], { claims });
    const right = { ...bound, 'client-cert': `:${raw.toString('base64')}:` };
    expect((await supplier.ask({}, { headers: right, server })).status).toBe(200);
    expectFsc(await supplier.ask({}, { headers: bound, server }), 401, 'ERROR_CODE_ACCESS_TOKEN_INVALID', INVALID);
  });

  it('refuses an expired token', async () => {
    const headers = await supplier.tokens.bearer(['read'], { seconds: -120 });
    expectFsc(await supplier.ask({}, { headers }), 401, 'ERROR_CODE_ACCESS_TOKEN_EXPIRED', INVALID);
  });

  it('refuses a token without the scope', async () => {
    const headers = await supplier.tokens.bearer(['create:normal']);
    const challenge = 'Bearer error="insufficient_scope", scope="read"';
    expectFsc(await supplier.ask({}, { headers }), 403, 'ERROR_CODE_WRONG_GROUP_ID_IN_TOKEN', challenge);
  });
});

describe('FSC tokens', () => {
  it.each(['Bearer ', ''])('accepts one with the scheme "%s"', async (scheme) => {
    const { gegevens } = await supplier.get({}, { headers: await withFsc({}, scheme) });
    expect(gegevens).toHaveProperty('leveringen');
  });

  it('gives Fsc-Authorization precedence when both are present', async () => {
    const headers = { 'fsc-authorization': 'Bearer no.token.here' };
    expectFsc(await supplier.ask({}, { headers }), 401, 'ERROR_CODE_ACCESS_TOKEN_INVALID', INVALID);
  });

  it.each([
    ['another peer as issuer', { peerId: OTHER }],
    ['another audience', { audience: 'https://elsewhere.example' }],
    ['a start in the future', { issuedAt: new Date(Date.now() + 600_000) }],
  ])('refuses one with %s', async (_what, wishes) => {
    const headers = await withFsc(wishes);
    expectFsc(await supplier.ask({}, { headers }), 401, 'ERROR_CODE_ACCESS_TOKEN_INVALID', INVALID);
  });

  it('refuses one that names an unknown certificate', async () => {
    const headers = await withFsc({ certificate: 'A'.repeat(43) });
    expectFsc(await supplier.ask({}, { headers }), 401, 'ERROR_CODE_ACCESS_TOKEN_INVALID', INVALID);
  });

  it("refuses one that was modified, or signed by another key in the Manager's name", async () => {
    const [header = '', , signature = ''] = (await fscToken()).split('.');
    const changed = `${header}.${(await fscToken({ subject: OTHER })).split('.')[1]}.${signature}`;
    const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    const forged = await fscToken({ key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString() });
    for (const token of [changed, forged]) {
      const headers = { ...withoutToken, 'fsc-authorization': `Bearer ${token}` };
      expectFsc(await supplier.ask({}, { headers }), 401, 'ERROR_CODE_ACCESS_TOKEN_INVALID', INVALID);
    }
  });

  it('refuses an expired one', async () => {
    const headers = await withFsc({ issuedAt: new Date(Date.now() - 3_600_000), lifetimeSeconds: 60 });
    expectFsc(await supplier.ask({}, { headers }), 401, 'ERROR_CODE_ACCESS_TOKEN_EXPIRED', INVALID);
  });

  it('refuses one from another group', async () => {
    const answer = await supplier.ask({}, { headers: await withFsc({ groupId: 'other' }) });
    expectFsc(answer, 403, 'ERROR_CODE_WRONG_GROUP_ID_IN_TOKEN');
  });

  it('finds no service for a token of another service, the other variant included', async () => {
    for (const service of ['nothing', 'vs']) {
      const answer = await supplier.ask({}, { headers: await withFsc({ service }) });
      expectFsc(answer, 404, 'ERROR_CODE_SERVICE_NOT_FOUND');
    }
  });

  it('refuses one whose subject did not sign', async () => {
    const answer = await supplier.ask({}, { headers: await withFsc({ subject: OTHER }) });
    expectFsc(answer, 403, 'ERROR_CODE_WRONG_GROUP_ID_IN_TOKEN');
  });

  it('accepts a delegate that signs for the subject', async () => {
    const { status } = await supplier.get({}, { headers: await withFsc({ subject: OTHER, actor: REQUESTER }) });
    expect(status).toBe(200);
  });

  it('accepts one of FSC Core 2.0, with grant properties and other claims', async () => {
    const claims = { gth: '$1$4$grant', prp: { doel: 'statistiek' }, add: {}, nieuw: ['iets'], jti: 5 };
    expect((await supplier.get({}, { headers: await withFsc({ claims }) })).status).toBe(200);
  });

  it('records the delegate in the processing log, and in the journal with its proof', async () => {
    const delegated = await withFsc({ subject: OTHER, actor: REQUESTER, claims: { pdi: PUBLISHER } });
    await supplier.get({}, { headers: delegated });
    const [entry] = await supplier.asOwner(
      'select handeling_naam, afnemer_id from verwerkingenlog.versies order by tijdstip_registratie desc limit 1',
    );
    expect(entry).toEqual({
      handeling_naam: `Gegevensuitwisseling, opgevraagd door ${REQUESTER} namens ${OTHER}, aangeboden namens ${PUBLISHER}`,
      afnemer_id: OTHER,
    });
    await supplier.get({}, { headers: await withFsc() });
    const [own, byDelegate] = await readJournal(supplier.pool, { limit: 2 });
    expect(byDelegate?.machtiging).toEqual({ gemachtigde: REQUESTER, publicatieNamens: PUBLISHER });
    expect(own).not.toHaveProperty('machtiging');
  });

  it.each([{ pdi: 'een ander' }, { pdi: 5 }])('refuses one with %j', async (claims) => {
    const headers = await withFsc({ claims });
    expectFsc(await supplier.ask({}, { headers }), 401, 'ERROR_CODE_ACCESS_TOKEN_INVALID', INVALID);
  });

  it.each([OTHER, REQUESTER])('accepts an OIN header that names the subject or its delegate: %s', async (oin) => {
    await supplier.get({}, { headers: { ...(await withFsc({ subject: OTHER, actor: REQUESTER })), oin } });
    // Whichever it names, the entry has the one that the token is for.
    const [entry] = await supplier.asOwner(
      'select afnemer_id from verwerkingenlog.versies order by tijdstip_registratie desc limit 1',
    );
    expect(entry).toEqual({ afnemer_id: OTHER });
  });

  it('checks the client certificate that a token is bound to, when the proxy passes it on', async () => {
    const server = await supplier.another({ CLIENT_CERT_HEADER: 'Client-Cert' });
    const bound = await withFsc({ boundTo: clientCertificate });
    const der = (pem: string): string => `:${new X509Certificate(pem).raw.toString('base64')}:`;
    const right = await supplier.ask({}, { headers: { ...bound, 'client-cert': der(clientCertificate) }, server });
    expect(right.status).toBe(200);
    const wrong = await supplier.ask({}, { headers: { ...bound, 'client-cert': der(managerCertificate) }, server });
    expectFsc(wrong, 401, 'ERROR_CODE_ACCESS_TOKEN_INVALID', INVALID);
    expectFsc(await supplier.ask({}, { headers: bound, server }), 401, 'ERROR_CODE_ACCESS_TOKEN_INVALID', INVALID);
  });

  it('refuses an OIN header that differs from the token', async () => {
    const answer = await supplier.ask({}, { headers: { ...(await withFsc()), oin: OTHER } });
    expectFsc(answer, 403, 'ERROR_CODE_WRONG_GROUP_ID_IN_TOKEN');
    expect((await supplier.ask({}, { headers: { ...(await withFsc()), oin: REQUESTER } })).status).toBe(200);
  });
});

describe('addresses and methods', () => {
  it.each(['GET', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS', 'PROPFIND'])(
    'has no %s, even without a token',
    async (method) => {
      const answer = await send(`${supplier.server.url}/shv/v1/gegevens`, method, {});
      expect(answer.status).toBe(405);
      expect(answer.headers.get('allow')).toBe('POST');
      expect(answer.headers.get('fsc-error-code')).toBe('ERROR_CODE_METHOD_UNSUPPORTED');
      if (method !== 'HEAD') expectFsc(answer, 405, 'ERROR_CODE_METHOD_UNSUPPORTED');
    },
  );

  it.each(['/shv/v1/nergens', '/shv/v1/gegevens/', '/shv/v1', '/vs/v1/gegevens/1'])(
    'returns 404 at %s',
    async (path) => {
      for (const method of ['GET', 'POST']) {
        expectFsc(await send(supplier.server.url + path, method, {}), 404, 'ERROR_CODE_SERVICE_NOT_FOUND');
      }
    },
  );

  it('answers errors outside FSC as plain problems, without the FSC header', async () => {
    const answer = await supplier.ask({ page: 0 });
    expect(answer.status).toBe(400);
    expect(answer.headers.has('fsc-error-code')).toBe(false);
    expect(JSON.parse(answer.text)).toEqual({
      type: `${supplier.server.url}/problems/invalid-request`,
      title: 'Ongeldig verzoek',
      status: 400,
      detail: 'page: moet minstens 1 zijn',
      instance: expect.stringMatching(/^urn:uuid:/),
    });
  });
});
