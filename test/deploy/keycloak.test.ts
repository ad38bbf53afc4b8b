/**
 * The realm of deploy/keycloak has the scopes of the contracts. With KEYCLOAK_URL, the address of a Keycloak that has imported it, its
 * tokens are tested against the service: this needs KEYCLOAK_APPLICATIE_SECRET and KEYCLOAK_STATISTIEK_SECRET; for certificate-bound tokens
 * also KEYCLOAK_TLS_URL, and KEYCLOAK_CLIENT, the path of the certificate and key of `applicatie-certificaat` without `.pem` and
 * `-key.pem`.
 */
import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { request } from 'node:https';
import { join } from 'node:path';
import process from 'node:process';
import { text } from 'node:stream/consumers';
import { afterEach, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { startServer, type TestServer } from '../support/server.ts';
import { actie, KEY, newPerson } from '../verwerkingenlog/support.ts';

const ROOT = join(import.meta.dirname, '../..');
const AUDIENCE = 'https://koppelvlak.example';

interface Mapper {
  readonly protocolMapper: string;
  readonly config: Record<string, string>;
}
interface Client {
  readonly clientId: string;
  readonly secret?: string;
  readonly clientAuthenticatorType: string;
  readonly attributes: Record<string, string>;
  readonly defaultClientScopes: readonly string[];
}
interface Realm {
  readonly clientScopes: readonly { name: string; protocolMappers?: readonly Mapper[] }[];
  readonly clients: readonly Client[];
}

const realm: Realm = JSON.parse(readFileSync(join(ROOT, 'deploy/keycloak/realm.json'), 'utf8'));

function scopesOf(contract: string): string[] {
  const document: unknown = parse(readFileSync(join(ROOT, 'openapi', contract), 'utf8'));
  const { components } = Object(document);
  return Object.keys(components.securitySchemes.oauth2.flows.clientCredentials.scopes);
}

describe('the realm', () => {
  it('has the scopes of the contracts, and one shared by all clients', () => {
    const wanted = [...scopesOf('gegevens.yaml'), ...scopesOf('verwerkingenlog.yaml'), 'koppelvlak'];
    expect(realm.clientScopes.map(({ name }) => name).toSorted()).toEqual(wanted.toSorted());
  });

  it('sets the audience for every client, and no other', () => {
    const mappers = realm.clientScopes.flatMap(({ protocolMappers = [] }) => protocolMappers);
    const audiences = mappers.flatMap(({ config }) => config['included.custom.audience'] ?? []);
    expect(audiences).toEqual([AUDIENCE]);
    for (const { defaultClientScopes } of realm.clients) expect(defaultClientScopes).toContain('koppelvlak');
  });

  it('gives no client scopes of both areas, and contains no secret', () => {
    for (const { clientId, defaultClientScopes, secret = '' } of realm.clients) {
      const isExchange = defaultClientScopes.includes('read');
      expect(
        defaultClientScopes.some((scope) => scope.includes(':')),
        clientId,
      ).toBe(!isExchange);
      expect(secret).toMatch(/^(?:|\$\{KOPPELVLAK_[A-Z_]+_SECRET\})$/);
    }
  });

  it('binds the tokens of a client with a certificate to it', () => {
    const bound = realm.clients.filter(({ clientAuthenticatorType }) => clientAuthenticatorType === 'client-x509');
    expect(bound.length).toBe(2);
    for (const { attributes } of bound) expect(attributes['tls.client.certificate.bound.access.tokens']).toBe('true');
  });
});

const { KEYCLOAK_URL, KEYCLOAK_TLS_URL, KEYCLOAK_CLIENT } = process.env;
const { KEYCLOAK_APPLICATIE_SECRET = '', KEYCLOAK_STATISTIEK_SECRET = '' } = process.env;

let server: TestServer | undefined;
afterEach(async () => {
  await server?.stop();
  server = undefined;
});

async function serve(issuer: string, env: Record<string, string> = {}): Promise<TestServer> {
  server = await startServer({
    env: {
      AREAS: 'verwerkingenlog',
      VERWERKINGENLOG_KEY: KEY,
      OAUTH_ISSUER: `${issuer}/realms/koppelvlak`,
      OAUTH_AUDIENCE: AUDIENCE,
      OAUTH_JWKS_URL: `${KEYCLOAK_URL}/realms/koppelvlak/protocol/openid-connect/certs`,
      ...env,
    },
  });
  return server;
}

async function append(token: string, vertrouwelijkheid: string, headers: Record<string, string> = {}): Promise<number> {
  const response = await fetch(`${server?.url}/verwerkingenlog/v1/verwerkingsacties`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ ...actie(newPerson()), vertrouwelijkheid }),
  });
  await response.arrayBuffer();
  return response.status;
}

async function tokenBySecret(client: string, secret: string): Promise<string> {
  const response = await fetch(`${KEYCLOAK_URL}/realms/koppelvlak/protocol/openid-connect/token`, {
    method: 'POST',
    body: new URLSearchParams({ grant_type: 'client_credentials', client_id: client, client_secret: secret }),
  });
  const { access_token: token }: { access_token: string } = JSON.parse(await response.text());
  return token;
}

async function tokenByCertificate(client: string): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const outgoing = request(
    `${KEYCLOAK_TLS_URL}/realms/koppelvlak/protocol/openid-connect/token`,
    {
      method: 'POST',
      rejectUnauthorized: false,
      cert: readFileSync(`${KEYCLOAK_CLIENT}.pem`),
      key: readFileSync(`${KEYCLOAK_CLIENT}-key.pem`),
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    },
    (response) => void text(response).then((body) => resolve(String(JSON.parse(body).access_token)), reject),
  );
  outgoing.on('error', reject);
  outgoing.end(`grant_type=client_credentials&client_id=${client}`);
  return promise;
}

describe.runIf(KEYCLOAK_URL !== undefined)('a Keycloak with that realm', () => {
  it('issues tokens that grant a client exactly its scopes', async () => {
    await serve(String(KEYCLOAK_URL));
    const own = await tokenBySecret('applicatie', KEYCLOAK_APPLICATIE_SECRET);
    expect(await append(own, 'normaal')).toBe(201);
    expect(await append(own, 'vertrouwelijk')).toBe(403);
    expect(await append(await tokenBySecret('statistiek', KEYCLOAK_STATISTIEK_SECRET), 'normaal')).toBe(403);
  });

  it.runIf(KEYCLOAK_CLIENT !== undefined)("issues tokens that work only with their client's certificate", async () => {
    await serve(String(KEYCLOAK_TLS_URL), { CLIENT_CERT_HEADER: 'Client-Cert' });
    const token = await tokenByCertificate('applicatie-certificaat');
    const { raw } = new X509Certificate(readFileSync(`${KEYCLOAK_CLIENT}.pem`));
    expect(await append(token, 'normaal', { 'client-cert': `:${raw.toString('base64')}:` })).toBe(201);
    expect(await append(token, 'normaal')).toBe(401);
  });
});
