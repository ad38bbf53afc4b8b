import { createHash, X509Certificate } from 'node:crypto';
import { appendFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PLAIN_STYLES } from '../../src/lib/jades/signature.ts';
import { servicesPolicy } from '../support/authority/profiles.ts';
import type { RawAnswer } from './support/requester.ts';
import { FIXTURES, openSupplier, type Supplier } from './support/supplier.ts';

let supplier: Supplier;
beforeAll(async () => {
  supplier = await openSupplier();
  await supplier.import('shv', join(FIXTURES, 'shv-klein.json'));
});
afterAll(() => supplier.close());

function expectProblem(answer: RawAnswer, status: number, slug: string, detail?: RegExp): void {
  expect(answer.status, answer.text).toBe(status);
  const problem = JSON.parse(answer.text);
  expect(new URL(problem.type).pathname).toBe(`/problems/${slug}`);
  if (detail !== undefined) expect(problem.detail).toMatch(detail);
}

const sha512 = (text: string): string => createHash('sha512').update(text).digest('base64');

describe('the content', () => {
  it.each(['text/plain', 'application/xml', 'application/problem+json', 'application/json; charset=latin1'])(
    'refuses %s',
    async (type) => {
      expectProblem(await supplier.ask({}, { headers: { 'content-type': type } }), 415, 'unsupported-media-type');
    },
  );

  it('accepts an explicit UTF-8 charset', async () => {
    for (const charset of ['UTF-8', 'utf8'])
      await supplier.get({}, { headers: { 'content-type': `application/json; charset=${charset}` } });
  });

  it('may begin with a byte order mark, as in the other areas', async () => {
    const body = '\ufeff{}';
    const answer = await supplier.ask(body, { headers: await supplier.requester.sign(body) });
    expect(answer.status, answer.text).toBe(200);
  });

  it('is never compressed, whatever the requester accepts: the signature covers these bytes', async () => {
    const { headers, bytes } = await supplier.get({}, { headers: { 'accept-encoding': 'zstd, br, gzip, deflate' } });
    expect(headers.has('content-encoding')).toBe(false);
    expect(headers.get('content-length')).toBe(String(bytes.length));
    expect(headers.get('cache-control')).toBe('no-store, no-transform');
    expect(headers.get('content-type')).toBe('application/json; charset=utf-8');
  });

  it('must be JSON', async () => {
    expectProblem(await supplier.ask({}, { headers: { accept: 'text/html' } }), 406, 'not-acceptable');
  });

  it('refuses an empty body', async () => {
    expectProblem(await supplier.ask(''), 400, 'invalid-request', /ontbreekt/);
  });

  it('checks the digest before it reads the JSON', async () => {
    const signed = await supplier.requester.sign('{');
    expectProblem(await supplier.ask('{', { headers: signed }), 400, 'invalid-request', /geen geldige JSON/);
    expectProblem(await supplier.ask('{', { headers: { digest: undefined } }), 400, 'digest-missing');
  });

  it('refuses a member that occurs twice', async () => {
    expectProblem(await supplier.ask('{"page":1,"page":2}'), 400, 'invalid-request', /meer dan eens/);
  });

  it('refuses a body that is larger than allowed', async () => {
    expectProblem(await supplier.ask(' '.repeat(2_000_000)), 413, 'body-too-large');
  });

  it('checks the size before the token', async () => {
    const refused = await supplier.ask(' '.repeat(2_000_000), { headers: { authorization: undefined } });
    expectProblem(refused, 413, 'body-too-large');
  });

  it('names every fault of the body', async () => {
    const answer = await supplier.ask({
      aanleverperiodeStartdatum: '2026-02-30',
      aanleverperiodeEinddatum: 'morgen',
      aanleverende_organisatie: 7,
      page: 0,
      pageSize: 1.5,
      onbekend: true,
    });
    expectProblem(answer, 400, 'invalid-request');
    const { detail } = JSON.parse(answer.text);
    for (const name of ['Startdatum', 'Einddatum', 'organisatie', 'page', 'pageSize', 'onbekend']) {
      expect(detail).toContain(name);
    }
  });

  it.each([
    ['a page size above the maximum', { pageSize: 25_001 }],
    ['a page size below one', { pageSize: 0 }],
    ['a page as text', { page: '1' }],
    ['null for a date', { aanleverperiodeStartdatum: null }],
    ['a time for a date', { aanleverperiodeStartdatum: '2026-01-01T00:00:00Z' }],
    ['a list', [1]],
    ['no object', 7],
  ])('refuses %s', async (_what, body) => {
    expectProblem(await supplier.ask(body), 400, 'invalid-request');
  });

  it('cannot process a period that ends before it starts', async () => {
    const body = { aanleverperiodeStartdatum: '2026-03-01', aanleverperiodeEinddatum: '2026-01-01' };
    expectProblem(await supplier.ask(body), 422, 'omgekeerde-periode');
  });

  it('cannot process an organisation that it does not deliver for', async () => {
    for (const aanleverende_organisatie of ['Niemand', 'Noord\u0000', '\u0000', '\ud800', '%', "'"]) {
      expectProblem(await supplier.ask({ aanleverende_organisatie }), 422, 'onbekende-organisatie');
    }
  });

  it.each([
    ['OIN', '123'],
    ['VerwerkingId', 'geen-uuid'],
    ['Bewaartermijn', 'tien jaar'],
    ['Bewaartermijn', 'PT0S'],
    ['Vertrouwelijkheid', 'geheim'],
    ['Vertrouwelijkheid', 'Opgeheven'],
  ])('names a malformed %s', async (name, value) => {
    const answer = await supplier.ask({ page: 0 }, { headers: { [name]: value } });
    expectProblem(answer, 400, 'invalid-request', new RegExp(`${name.toLowerCase()}.*page`, 'i'));
  });
});

describe('digest and signature', () => {
  it('accepts a digest header with additional algorithms', async () => {
    const { digest } = await supplier.requester.sign('{}');
    const headers = { digest: `SHA-512=${sha512('{}')}, ${digest}` };
    expect((await supplier.ask({}, { headers, style: PLAIN_STYLES.body })).status).toBe(200);
  });

  it.each(['body', 'digest'] as const)('answers the %s form in that form', async (form) => {
    const { headers } = await supplier.get({}, { style: PLAIN_STYLES[form] });
    const [header = ''] = (headers.get('nlgov-adr-payload-sig') ?? '').split('.');
    const members = JSON.parse(Buffer.from(header, 'base64url').toString());
    expect('sigD' in members).toBe(form === 'digest');
    expect(members).toMatchObject({
      alg: 'PS256',
      typ: 'JOSE',
      kid: expect.any(String),
      'x5t#S256': expect.any(String),
    });
    expect(members.x5c.length).toBeGreaterThan(1);
  });

  it('admits only the configured signers', async () => {
    const server = await supplier.another({ GEGEVENS_ALLOWED_SIGNERS: '00000099000000009999' });
    const answer = await supplier.ask({}, { server });
    expect(answer.status).toBe(403);
    expect(answer.headers.get('fsc-error-code')).toBe('ERROR_CODE_WRONG_GROUP_ID_IN_TOKEN');
  });

  it('counts refusals by cause', async () => {
    const text = await (await fetch(`${supplier.server.managementUrl}/metrics`)).text();
    expect(text).toMatch(/koppelvlak_gegevens_signature_failures_total\{cause="digest-missing"\} [1-9]/);
    expect(text).toMatch(/koppelvlak_gegevens_certificate_expiry_timestamp_seconds \d+/);
  });

  it('accepts only certificates with the required policies', async () => {
    const right = await supplier.another({ GEGEVENS_REQUIRED_POLICIES: `1.2.3.4,${servicesPolicy}` });
    await supplier.get({}, { server: right });
    const other = await supplier.another({ GEGEVENS_REQUIRED_POLICIES: '1.2.3.4' });
    expectProblem(await supplier.ask({}, { server: other }), 422, 'certificate-untrusted');
  });

  it('refuses a certificate once it is revoked', async () => {
    const fresh = await supplier.another({ GEGEVENS_REVOCATION: 'hard' });
    const { serialNumber } = new X509Certificate(readFileSync(supplier.authority.requester.certificate));
    appendFileSync(supplier.authority.revoked, `${serialNumber}\n`);
    const slug = async () => JSON.parse((await supplier.ask({}, { server: fresh })).text).type;
    await expect.poll(slug).toMatch(/\/problems\/certificate-revoked$/);
  });
});
