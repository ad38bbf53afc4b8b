/** The authorization server of the demo and the tests (RFC 6749 section 4.4, RFC 9068). It must never run where real data are. */
import { randomUUID } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import Fastify, { type FastifyInstance, type FastifyRequest } from 'fastify';
import { createLocalJWKSet, decodeJwt, errors, importJWK, jwtVerify, SignJWT } from 'jose';
import { LRUCache } from 'lru-cache';
import { type AuthorizationClient, loadSigningKey } from './saved-secrets.ts';

export interface AuthorizationServerOptions {
  readonly port: number;
  readonly audience: string;
  readonly clients: readonly AuthorizationClient[];
  readonly environment: string;
  readonly keysDirectory: string;
  readonly register?: (app: FastifyInstance, address: () => string) => Promise<void>;
  /** Neither tokens nor secrets are written. */
  readonly log: {
    info(fields: object, message: string): void;
    error(fields: object, message: string): void;
  };
}

export type AuthorizationServer = Awaited<ReturnType<typeof startAuthorizationServer>>;

const MAX_FORM_BYTES = 10_000;
const TOKEN_SECONDS = 3600;
const ASSERTION_TYPE = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';
const ASSERTION_SECONDS = 300;
const ASSERTION_ALGORITHMS = ['ES256', 'PS256', 'RS256'];

/** @throws {Error} with `NODE_ENV=production`, or when the port is taken */
export async function startAuthorizationServer(options: AuthorizationServerOptions) {
  const { audience, clients, log, register } = options;
  if (options.environment === 'production')
    throw new Error('the authorization server of the demo does not start with NODE_ENV=production');
  const jwk = await loadSigningKey(options.keysDirectory);
  const key = await importJWK(jwk, 'ES256');
  const { d: _secret, ...publicKey } = jwk;
  // Its issuer too; known once it listens.
  let address = '';
  const used = new LRUCache<string, true>({ max: 10_000, ttl: ASSERTION_SECONDS * 1000 });

  function clientOfSecret(headers: IncomingHttpHeaders): AuthorizationClient | undefined {
    const { id, secret } = readBasic(headers.authorization);
    return clients.find((one) => one.id === id && 'secret' in one && one.secret === secret);
  }

  /** The client whose key signed the assertion, which is valid once (RFC 7523 section 3). */
  async function clientOfAssertion(form: URLSearchParams): Promise<AuthorizationClient | undefined> {
    const assertion = form.get('client_assertion') ?? '';
    if (form.get('client_assertion_type') !== ASSERTION_TYPE) return undefined;
    try {
      const id = decodeJwt(assertion).sub ?? '';
      const client = clients.find((one) => one.id === id);
      if (client === undefined || !('publicKeys' in client)) return undefined;
      const { payload } = await jwtVerify(assertion, createLocalJWKSet({ keys: [...client.publicKeys] }), {
        issuer: id,
        subject: id,
        audience: [address, `${address}/token`],
        algorithms: ASSERTION_ALGORITHMS,
        requiredClaims: ['exp', 'iat', 'jti'],
        maxTokenAge: ASSERTION_SECONDS,
      });
      const use = `${id} ${payload.jti}`;
      if (used.has(use)) return undefined;
      used.set(use, true);
      return client;
    } catch (error) {
      if (error instanceof errors.JOSEError) return undefined;
      throw error;
    }
  }

  const app = Fastify({ requestTimeout: 10_000, forceCloseConnections: true, bodyLimit: MAX_FORM_BYTES });
  app.addContentTypeParser(
    'application/x-www-form-urlencoded',
    { parseAs: 'string' },
    async (_request: FastifyRequest, body: string) => {
      return new URLSearchParams(body);
    },
  );
  app.addHook('onError', async (_request, _reply, err) => log.error({ err }, 'the authorization server failed'));
  app.get('/jwks', async () => ({ keys: [publicKey] }));
  for (const name of ['oauth-authorization-server', 'openid-configuration']) {
    app.get(`/.well-known/${name}`, async () => ({
      issuer: address,
      token_endpoint: `${address}/token`,
      jwks_uri: `${address}/jwks`,
      grant_types_supported: ['client_credentials'],
      token_endpoint_auth_methods_supported: ['client_secret_basic', 'private_key_jwt'],
      token_endpoint_auth_signing_alg_values_supported: ASSERTION_ALGORITHMS,
    }));
  }
  app.post<{ Body: URLSearchParams }>('/token', async ({ body, headers }, reply) => {
    const client = headers.authorization === undefined ? await clientOfAssertion(body) : clientOfSecret(headers);
    const clientId = client?.id;
    const refuse = (status: number, error: string) => {
      log.info({ clientId, error }, 'access token refused');
      return reply.code(status).send({ error });
    };
    if (client === undefined) return refuse(401, 'invalid_client');
    if (body.get('grant_type') !== 'client_credentials') return refuse(400, 'unsupported_grant_type');
    // RFC 6749 section 3.3 lets the server choose for a client that names no scope: all of its own.
    const scope = body.get('scope') ?? client.scopes.join(' ');
    if (scope.split(' ').some((one) => one !== '' && !client.scopes.includes(one))) return refuse(400, 'invalid_scope');
    const claims = { client_id: client.id, ...(scope === '' ? {} : { scope }) };
    const token = await new SignJWT(claims)
      .setProtectedHeader({ alg: 'ES256', typ: 'at+jwt', kid: String(publicKey.kid) })
      .setIssuer(address)
      .setAudience(audience)
      .setSubject(client.id)
      .setIssuedAt()
      .setExpirationTime(`${TOKEN_SECONDS}s`)
      .setJti(randomUUID())
      .sign(key);
    log.info({ clientId }, 'access token issued');
    const answer = { access_token: token, token_type: 'Bearer', expires_in: TOKEN_SECONDS };
    return reply.header('cache-control', 'no-store').send({ ...answer, ...(scope === '' ? {} : { scope }) });
  });
  await register?.(app, () => address);
  address = await app.listen({ port: options.port, host: '127.0.0.1' });
  return { issuer: address, tokenUrl: `${address}/token`, jwksUrl: `${address}/jwks`, close: () => app.close() };
}

/** The client and its secret (RFC 6749 section 2.3.1: each is encoded as in a form before they are joined). */
export function readBasic(authorization = ''): { readonly id: string; readonly secret: string } {
  const joined = Buffer.from(authorization.replace(/^Basic /i, ''), 'base64').toString();
  const [id = '', secret = ''] = joined
    .split(/:(.*)/s)
    .map((part) => new URLSearchParams(`part=${part}`).get('part') ?? '');
  return { id, secret };
}
