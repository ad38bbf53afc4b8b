// The authorization server of the demo: oidc-provider, configured for client credentials only. @see RFC 6749 section 4.4
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { JWK } from 'jose';
import { LRUCache } from 'lru-cache';
import {
  type Adapter,
  type AdapterPayload,
  type Client,
  type ClientMetadata,
  errors,
  type KoaContextWithOIDC,
  Provider,
} from 'oidc-provider';
import { ALL_SCOPES, type AuthorizationClient, loadSigningKey } from './saved-secrets.ts';
import { createSignInServer, type SignInServerOptions } from './sign-in-server.ts';

export interface AuthorizationServerOptions {
  /** 0: a free one. Listens on the loopback address only. */
  readonly port: number;
  /** How the tokens and the metadata name this server; default `http://127.0.0.1:<port>`. */
  readonly issuer?: string | undefined;
  /** `aud` of every token. */
  readonly audience: string;
  readonly clients: readonly AuthorizationClient[];
  /** Where the signing key is kept; it is made when the directory has none. */
  readonly keysDirectory: string;
  /** Whether this is a production environment: then the server refuses to start. */
  readonly production: boolean;
  /** Life of a token in seconds; default 3600. */
  readonly tokenSeconds?: number | undefined;
  /** A stand-in for the national login, at `/digid`; absent: none. */
  readonly signIn?: Pick<SignInServerOptions, 'client' | 'returnPath' | 'clientUrl' | 'persons'> | undefined;
  /** Neither tokens nor secrets are written. */
  readonly log: {
    info(fields: object, message: string): void;
    error(fields: object, message: string): void;
  };
}

export interface AuthorizationServer {
  readonly issuer: string;
  readonly tokenUrl: string;
  readonly jwksUrl: string;
  readonly signInIssuer: string;
  readonly close: () => Promise<void>;
}

/** The door is as narrow as the job: the library has more endpoints than this server is for. */
const PATHS = new Set([
  '/token',
  '/jwks',
  '/.well-known/oauth-authorization-server',
  '/.well-known/openid-configuration',
]);

/**
 * Starts a real authorization server for the demo and the tests: client credentials, JWT access tokens (RFC 9068).
 *
 * @throws {Error} in production, or when the port is taken
 */
export async function startAuthorizationServer(options: AuthorizationServerOptions): Promise<AuthorizationServer> {
  if (options.production) throw new Error('the authorization server of the demo does not start in production');
  const signingKey = await loadSigningKey(options.keysDirectory);
  const server = createServer({ requestTimeout: 10_000 });
  server.listen(options.port, '127.0.0.1');
  await once(server, 'listening');
  try {
    // Only now is the port known, and with it the name of the issuer.
    const address = `http://127.0.0.1:${portOf(server)}`;
    const issuer = options.issuer ?? address;
    serve(server, { issuer, address }, signingKey, options);
    return {
      issuer,
      tokenUrl: `${address}/token`,
      jwksUrl: `${address}/jwks`,
      signInIssuer: `${address}${SIGN_IN_PATH}`,
      close: () => close(server),
    };
  } catch (error) {
    await close(server);
    throw error;
  }
}

/** Where the stand-in for the national login is mounted. */
const SIGN_IN_PATH = '/digid';

function serve(
  server: Server,
  { issuer, address }: { issuer: string; address: string },
  signingKey: JWK,
  options: AuthorizationServerOptions,
): void {
  const { log } = options;
  const failed = (err: unknown): void => log.error({ err }, 'the authorization server failed');
  const provider = buildProvider(issuer, signingKey, options);
  provider.on('grant.success', (ctx) => {
    log.info({ clientId: ctx.oidc.client?.clientId }, 'access token issued');
  });
  provider.on('grant.error', (ctx, error) => {
    log.info({ clientId: ctx.oidc.client?.clientId, error: error.error }, 'access token refused');
  });
  provider.on('server_error', (_ctx, err) => failed(err));
  // What goes wrong below HTTP, such as a client that went away, would be printed.
  provider.onerror = failed;
  const answer = provider.callback();
  const signIn =
    options.signIn === undefined
      ? undefined
      : createSignInServer({
          ...options.signIn,
          issuer: `${address}${SIGN_IN_PATH}`,
          signingKey,
          adapter: createMemoryAdapter,
          failed: (err) => log.error({ err }, 'the stand-in for the national login failed'),
        });
  server.on('request', (request, response) => {
    if (signIn?.(request, response) === true) return;
    if (PATHS.has(URL.parse(request.url ?? '', issuer)?.pathname ?? '')) {
      void answer(request, response);
      return;
    }
    response.writeHead(404, { 'content-type': 'application/json' }).end('{"error":"not_found"}');
  });
}

function portOf(server: Server): number {
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the authorization server has no port');
  return address.port;
}

async function close(server: Server): Promise<void> {
  if (!server.listening) return;
  const closed = once(server, 'close');
  server.close();
  server.closeAllConnections();
  await closed;
}

/** The library names a resource server by an address, while an audience may be any text. */
const RESOURCE = 'urn:koppelvlak:api';

function buildProvider(issuer: string, signingKey: JWK, options: AuthorizationServerOptions): Provider {
  const { audience, tokenSeconds = 3600 } = options;
  return new Provider(issuer, {
    adapter: createMemoryAdapter,
    clients: options.clients.map(metadataOf),
    clientAuthMethods: ['client_secret_basic', 'private_key_jwt'],
    clientDefaults: {
      grant_types: ['client_credentials'],
      response_types: [],
      redirect_uris: [],
      id_token_signed_response_alg: 'ES256',
    },
    enabledJWA: { idTokenSigningAlgValues: ['ES256'], clientAuthSigningAlgValues: ['ES256', 'PS256', 'RS256'] },
    jwks: { keys: [{ ...signingKey }] },
    responseTypes: [],
    scopes: ALL_SCOPES,
    routes: { token: '/token', jwks: '/jwks' },
    ttl: { ClientCredentials: tokenSeconds },
    clientBasedCORS: () => false,
    features: {
      dPoP: { enabled: false },
      pushedAuthorizationRequests: { enabled: false },
      devInteractions: { enabled: false },
      userinfo: { enabled: false },
      rpInitiatedLogout: { enabled: false },
      clientCredentials: { enabled: true },
      resourceIndicators: {
        enabled: true,
        defaultResource: () => RESOURCE,
        useGrantedResource: () => true,
        getResourceServerInfo(ctx, indicator, client) {
          if (indicator !== RESOURCE && indicator !== audience) throw new errors.InvalidTarget();
          return {
            scope: grantScopes(ctx, client),
            audience,
            accessTokenFormat: 'jwt',
            accessTokenTTL: tokenSeconds,
            jwt: { sign: { alg: 'ES256' } },
          };
        },
      },
    },
  });
}

/**
 * All scopes of the client, and a request for none in particular becomes a request for all of them: RFC 6749 section 3.3
 * leaves that default to the server. One that the client has not is an error, also for a client that has none at all.
 */
function grantScopes(ctx: KoaContextWithOIDC, client: Client): string {
  const granted = client.scope ?? '';
  const { params } = ctx.oidc;
  if (params === undefined) return granted;
  if (typeof params.scope !== 'string') {
    if (granted !== '') params.scope = granted;
    return granted;
  }
  const has = new Set(granted.split(' '));
  const other = params.scope.split(' ').find((scope) => !has.has(scope));
  if (other !== undefined) throw new errors.InvalidScope('requested scope is not allowed', other);
  return granted;
}

function metadataOf(client: AuthorizationClient): ClientMetadata {
  const scope = client.scopes.length === 0 ? {} : { scope: client.scopes.join(' ') };
  if ('secret' in client) {
    return {
      client_id: client.id,
      client_secret: client.secret,
      token_endpoint_auth_method: 'client_secret_basic',
      ...scope,
    };
  }
  const jwks = { keys: client.publicKeys.map((key) => ({ ...key })) };
  return { client_id: client.id, jwks, token_endpoint_auth_method: 'private_key_jwt', ...scope };
}

const MAX_ENTRIES = 10_000;

/**
 * What the library wants to keep: the `jti` of client assertions, to refuse a second use, and the sessions and codes of the stand-in for the
 * national login. In memory, bounded, and gone when the server stops.
 */
function createMemoryAdapter(): Adapter {
  const entries = new LRUCache<string, AdapterPayload>({ max: MAX_ENTRIES });
  const find = (matches: (payload: AdapterPayload) => boolean) => [...entries].filter(([, one]) => matches(one));
  return {
    async upsert(id, payload, expiresIn) {
      entries.set(id, payload, expiresIn === undefined ? {} : { ttl: expiresIn * 1000 });
    },
    find: async (id) => entries.get(id),
    findByUid: async (uid) => find((payload) => payload.uid === uid)[0]?.[1],
    findByUserCode: async () => undefined,
    async consume(id) {
      const payload = entries.get(id);
      if (payload !== undefined) payload.consumed = Math.floor(Date.now() / 1000);
    },
    async destroy(id) {
      entries.delete(id);
    },
    async revokeByGrantId(grantId) {
      for (const [id] of find((payload) => payload.grantId === grantId)) entries.delete(id);
    },
  };
}
