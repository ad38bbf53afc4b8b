// Behind an FSC Inway: whose tokens are accepted where, which details a refusal reveals to whom, and certificates that change while it
// runs.
import { createHash, X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createAuthority } from '../../src/lib/authority/authority.ts';
import { readFscKeySet } from '../../src/plugins/oauth/fsc-keys.ts';
import { type FscTokenOptions, mintFscToken } from '../support/fsc-token.ts';
import { mintKey } from './support/key-files.ts';
import { type RawAnswer, type RawHeaders, send } from './support/requester.ts';
import { FIXTURES, openSupplier, type Supplier } from './support/supplier.ts';

const GROUP = 'fsc-test';
const PEER = '00000099000000002000';
const REQUESTER = '00000099000000001000';

let supplier: Supplier;
let key: string;
let certificate: string;
let clientCertificate: string;
let dir: string;
let bundle: string;

beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'inway-'));
  const manager = await createAuthority({ dir, port: 0 });
  key = readFileSync(manager.supplier.key, 'utf8');
  certificate = readFileSync(manager.supplier.certificate, 'utf8');
  clientCertificate = readFileSync(manager.requester.certificate, 'utf8');
  await manager.close();
  bundle = join(dir, 'manager.pem');
  writeFileSync(bundle, certificate);
  supplier = await openSupplier({
    env: {
      FSC_TOKEN_CERTIFICATES: bundle,
      FSC_GROUP_ID: GROUP,
      FSC_AUDIENCE: 'https://inway-a.example:443/, https://inway-b.example:443',
      FSC_PEER_ID: PEER,
    },
  });
  await supplier.import('shv', join(FIXTURES, 'shv-klein.json'));
});
afterAll(async () => {
  await supplier.close();
  rmSync(dir, { recursive: true });
});

function fscToken(wishes: Partial<FscTokenOptions> = {}): Promise<string> {
  return mintFscToken({
    key,
    certificate,
    groupId: GROUP,
    peerId: PEER,
    audience: 'https://inway-b.example:443/',
    service: 'shv',
    subject: REQUESTER,
    ...wishes,
  });
}

const withFsc = async (wishes: Partial<FscTokenOptions> = {}): Promise<RawHeaders> => ({
  authorization: undefined,
  'fsc-authorization': `Bearer ${await fscToken(wishes)}`,
});

const metrics = async () => (await fetch(`${supplier.server.managementUrl}/metrics`)).text();
const ready = async (url = supplier.server.managementUrl): Promise<string> =>
  (await fetch(`${url}/health/ready`)).text();

describe('an FSC token', () => {
  it.each(['https://inway-a.example:443', 'https://inway-b.example:443/'])(
    'may be for each of our own Inways: %s',
    async (audience) => {
      await supplier.get({}, { headers: await withFsc({ audience }) });
    },
  );

  it('reveals the reason for its refusal to the operator only', async () => {
    const answer = await supplier.ask({}, { headers: await withFsc({ audience: 'https://elsewhere.example' }) });
    expect(answer.status).toBe(401);
    expect(answer.text).not.toContain('audience');
    const { code, domain, message, title, detail } = JSON.parse(answer.text);
    expect({ code, domain }).toEqual({ code: 'ERROR_CODE_ACCESS_TOKEN_INVALID', domain: 'ERROR_DOMAIN_INWAY' });
    expect(title).toEqual(expect.any(String));
    expect(message).toBe(detail);
    await expect
      .poll(() => supplier.server.logged.filter(({ tokenRefusal }) => tokenRefusal === 'audience'))
      .toMatchObject([{ msg: 'answered', status: 401, route: '/shv/v1/gegevens' }]);
    expect(await metrics()).toMatch(/koppelvlak_access_tokens_refused_total\{reason="audience"\} 1/);
    expect(JSON.stringify(supplier.server.logged)).not.toContain('elsewhere.example');
  });
});

describe('Fsc-Authorization', () => {
  const garbage = { 'fsc-authorization': 'Bearer no.token.here' };

  it('has precedence where FSC tokens are accepted', async () => {
    expect((await supplier.ask({}, { headers: garbage })).status).toBe(401);
  });

  it('is ignored where they are not', async () => {
    const server = await supplier.another({ FSC_TOKEN_CERTIFICATES: '' });
    await supplier.get({}, { server, headers: garbage });
    const alone = await supplier.ask({}, { server, headers: { ...garbage, authorization: undefined } });
    expect(alone.headers.get('fsc-error-code')).toBe('ERROR_CODE_ACCESS_TOKEN_MISSING');
  });

  it('is ignored in area B, which is called through an Inway with an OAuth token', async () => {
    const headers = {
      ...(await supplier.tokens.bearer(['read:normal'])),
      'fsc-authorization': `Bearer ${await fscToken({ service: 'verwerkingenlog' })}`,
    };
    const answer = await logRequest(headers);
    expect(answer.status, answer.text).toBe(200);
    const { 'fsc-authorization': _token, ...without } = headers;
    expect((await logRequest(without)).status).toBe(200);
    expect((await logRequest({ 'fsc-authorization': headers['fsc-authorization'] })).status).toBe(401);
  });
});

/** A call of area B that any reader may make. */
async function logRequest(headers: RawHeaders, url = supplier.server.url): Promise<RawAnswer> {
  return await send(`${url}/verwerkingenlog/v1/verwerkingsactiviteiten`, 'GET', headers);
}

describe('the client certificate that the proxy passes on', () => {
  it('is checked in area B too', async () => {
    const server = await supplier.another({ CLIENT_CERT_HEADER: 'X-Client-Cert' });
    const { raw } = new X509Certificate(clientCertificate);
    const cnf = { 'x5t#S256': createHash('sha256').update(raw).digest('base64url') };
    const token = await supplier.tokens.bearer(['read:normal'], { claims: { cnf } });
    const handed = { 'x-client-cert': `:${raw.toString('base64')}:` };
    expect((await logRequest({ ...token, ...handed }, server.url)).status).toBe(200);
    expect((await logRequest(token, server.url)).status).toBe(401);
    const other = `:${new X509Certificate(certificate).raw.toString('base64')}:`;
    expect((await logRequest({ ...token, 'x-client-cert': other }, server.url)).status).toBe(401);
  });
});

describe('a connection', () => {
  it('stays open while idle for longer than an Inway keeps it', async () => {
    const { headers } = await fetch(`${supplier.server.url}/shv/v1/openapi.json`);
    const [, seconds] = /timeout=(\d+)/.exec(headers.get('keep-alive') ?? '') ?? [];
    expect(Number(seconds)).toBeGreaterThan(90);
  });
});

describe('the certificates of the Manager', () => {
  it('have an end date that readiness and metrics show', async () => {
    const end = new X509Certificate(certificate).validToDate;
    expect(await ready()).toContain(`the last FSC token certificate expires in`);
    expect(await metrics()).toContain(
      `koppelvlak_fsc_token_certificate_expiry_timestamp_seconds ${end.getTime() / 1000}`,
    );
    const soon = join(dir, 'soon.pem');
    writeFileSync(soon, mintKey(supplier.authority, 10).chainPem.split(/(?<=-----END CERTIFICATE-----)/)[0] ?? '');
    const server = await supplier.another({ FSC_TOKEN_CERTIFICATES: soon });
    const { checks } = JSON.parse(await ready(server.managementUrl));
    expect(JSON.stringify(checks)).toMatch(/fsc-token-certificates.*warning|warning.*fsc-token-certificates/);
  });

  it('are reloaded when their file changes', async () => {
    const next = mintKey(supplier.authority);
    const [leaf = ''] = next.chainPem.split(/(?<=-----END CERTIFICATE-----)/);
    const ask = async () =>
      (await supplier.ask({}, { headers: await withFsc({ key: next.keyPem, certificate: leaf }) })).status;
    expect(await ask()).toBe(401);
    const old = await withFsc();
    writeFileSync(`${bundle}.new`, leaf);
    renameSync(`${bundle}.new`, bundle);
    await expect.poll(ask).toBe(200);
    expect((await supplier.ask({}, { headers: old })).status).toBe(401);
    writeFileSync(`${bundle}.new`, certificate);
    renameSync(`${bundle}.new`, bundle);
    await expect.poll(async () => (await supplier.ask({}, { headers: old })).status).toBe(200);
  });

  it('are taken from the key set that it publishes', async () => {
    const jwks = { keys: [{ kty: 'RSA', x5c: [new X509Certificate(certificate).raw.toString('base64')] }] };
    expect([...readFscKeySet(jwks).values()]).toHaveLength(1);
    const publisher = createServer((request, response) => {
      response.writeHead(request.url === '/.well-known/jwks.json' ? 200 : 404, { 'content-type': 'application/json' });
      response.end(JSON.stringify(jwks));
    });
    publisher.listen(0, '127.0.0.1');
    await once(publisher, 'listening');
    const address = publisher.address();
    if (address === null || typeof address === 'string') throw new Error('no port');
    try {
      const server = await supplier.another({
        FSC_TOKEN_CERTIFICATES: `http://127.0.0.1:${address.port}/.well-known/jwks.json`,
      });
      await expect.poll(async () => (await supplier.ask({}, { server, headers: await withFsc() })).status).toBe(200);
    } finally {
      publisher.closeAllConnections();
      publisher.close();
    }
  });
});
