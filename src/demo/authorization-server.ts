/**
 * The authorization server of the demo and the tests: client credentials for JWT access tokens, and what extensions serve below it. It is a
 * stand-in: nothing like it may run where real data are.
 * @see RFC 6749 section 4.4, RFC 9068
 */
import { randomUUID } from 'node:crypto';
import Fastify, { type FastifyInstance, type FastifyRequest } from 'fastify';
import { importJWK, SignJWT } from 'jose';
import { type DemoClientSecret, loadSigningKey } from './saved-secrets.ts';

export interface AuthorizationServerOptions {
  /** 0: a free one. Listens on the loopback address only. */
  readonly port: number;
  /** How the tokens and the metadata name this server; default `http://127.0.0.1:<port>`. */
  readonly issuer?: string | undefined;
  /** `aud` of every token. */
  readonly audience: string;
  readonly clients: readonly DemoClientSecret[];
  /** Where the signing key is kept; it is made when the directory has none. */
  readonly keysDirectory: string;
  /** Whether this is a production environment: then the server refuses to start. */
  readonly production: boolean;
  /** Life of a token in seconds; default 3600. */
  readonly tokenSeconds?: number | undefined;
  /** What else it serves, such as a login of citizens. */
  readonly register?: (app: FastifyInstance, address: () => string) => Promise<void>;
  /** Neither tokens nor secrets are written. */
  readonly log: {
    info(fields: object, message: string): void;
    error(fields: object, message: string): void;
  };
}

export type AuthorizationServer = Awaited<ReturnType<typeof startAuthorizationServer>>;

const MAX_FORM_BYTES = 10_000;

/** @throws {Error} in production, or when the port is taken */
export async function startAuthorizationServer(options: AuthorizationServerOptions) {
  const { audience, clients, tokenSeconds = 3600, log, register } = options;
  if (options.production) throw new Error('the authorization server of the demo does not start in production');
  const jwk = await loadSigningKey(options.keysDirectory);
  const key = await importJWK(jwk, 'ES256');
  const { d: _secret, ...publicKey } = jwk;
  let address = '';
  const issuer = (): string => options.issuer ?? address;

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
      issuer: issuer(),
      token_endpoint: `${address}/token`,
      jwks_uri: `${address}/jwks`,
      grant_types_supported: ['client_credentials'],
      token_endpoint_auth_methods_supported: ['client_secret_basic'],
    }));
  }
  app.post<{ Body: URLSearchParams }>('/token', async ({ body, headers }, reply) => {
    const { id: clientId, secret } = readBasic(headers.authorization);
    const refuse = (status: number, error: string) => {
      log.info({ clientId, error }, 'access token refused');
      return reply.code(status).send({ error });
    };
    const client = clients.find((one) => one.id === clientId && one.secret === secret);
    if (client === undefined) return refuse(401, 'invalid_client');
    if (body.get('grant_type') !== 'client_credentials') return refuse(400, 'unsupported_grant_type');
    // RFC 6749 section 3.3 leaves it to the server what a client gets that names no scope: all of its own.
    const scope = body.get('scope') ?? client.scopes.join(' ');
    if (scope.split(' ').some((one) => one !== '' && !client.scopes.includes(one))) return refuse(400, 'invalid_scope');
    const claims = { client_id: client.id, ...(scope === '' ? {} : { scope }) };
    const token = await new SignJWT(claims)
      .setProtectedHeader({ alg: 'ES256', typ: 'at+jwt', kid: String(publicKey.kid) })
      .setIssuer(issuer())
      .setAudience(audience)
      .setSubject(client.id)
      .setIssuedAt()
      .setExpirationTime(`${tokenSeconds}s`)
      .setJti(randomUUID())
      .sign(key);
    log.info({ clientId }, 'access token issued');
    const answer = { access_token: token, token_type: 'Bearer', expires_in: tokenSeconds };
    return reply.header('cache-control', 'no-store').send({ ...answer, ...(scope === '' ? {} : { scope }) });
  });
  await register?.(app, () => address);
  address = await app.listen({ port: options.port, host: '127.0.0.1' });
  return {
    address,
    issuer: issuer(),
    tokenUrl: `${address}/token`,
    jwksUrl: `${address}/jwks`,
    close: () => app.close(),
  };
}

/** The client and its secret (RFC 6749 section 2.3.1: each is encoded as in a form before they are joined). */
export function readBasic(authorization = ''): { readonly id: string; readonly secret: string } {
  const joined = Buffer.from(authorization.replace(/^Basic /i, ''), 'base64').toString();
  const [id = '', secret = ''] = joined
    .split(/:(.*)/s)
    .map((part) => new URLSearchParams(`part=${part}`).get('part') ?? '');
  return { id, secret };
}
