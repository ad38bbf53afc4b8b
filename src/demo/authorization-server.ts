/**
 * The authorization server of the demo and the tests: oidc-provider, configured for client credentials with JWT access tokens. It also plays
 * the national login (DigiD): the visitor picks one of the demo's persons instead of proving who he or she is. It is a stand-in: nothing like
 * it may run where real data are.
 * @see RFC 6749 section 4.4, RFC 9068, OpenID Connect Core 1.0
 */
import { randomBytes } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { JWK } from 'jose';
import { LRUCache } from 'lru-cache';
import {
  type Adapter,
  type AdapterPayload,
  type Client,
  type ClientMetadata,
  errors,
  interactionPolicy,
  type KoaContextWithOIDC,
  Provider,
} from 'oidc-provider';
import { htmlPage } from '../plugins/pages.ts';
import { listenOnLoopback } from './listen.ts';
import { ALL_SCOPES, type AuthorizationClient, loadSigningKey } from './saved-secrets.ts';

export interface SignIn {
  readonly client: { readonly id: string; readonly secret: string };
  /** Path on the client that the browser comes back to. */
  readonly returnPath: string;
  /** Other address than loopback that the client may have. */
  readonly clientUrl?: string | undefined;
  readonly persons: readonly { readonly bsn: string; readonly name: string }[];
}

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
  /** The stand-in for the national login; absent: none. */
  readonly signIn?: SignIn | undefined;
  /** Neither tokens nor secrets are written. */
  readonly log: {
    info(fields: object, message: string): void;
    error(fields: object, message: string): void;
  };
}

export type AuthorizationServer = Awaited<ReturnType<typeof startAuthorizationServer>>;

/** The door is as narrow as the job: the library has more endpoints than this server is for. */
const PATHS = /^\/(token|jwks|\.well-known\/(oauth-authorization-server|openid-configuration))$/;
const SIGN_IN_PATHS = /^\/auth(\/[\w-]{1,64})?$/;
const PICK_PATH = /^\/kies\/[\w-]{1,64}$/;

/** @throws {Error} in production, or when the port is taken */
export async function startAuthorizationServer(options: AuthorizationServerOptions) {
  const { signIn, log } = options;
  if (options.production) throw new Error('the authorization server of the demo does not start in production');
  const signingKey = await loadSigningKey(options.keysDirectory);
  // The issuer is named after the port.
  const { server, address, close } = await listenOnLoopback(options.port);
  const issuer = options.issuer ?? address;
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
  server.on('request', (request, response) => {
    const [path = ''] = (request.url ?? '').split('?', 1);
    if (PATHS.test(path) || (signIn !== undefined && SIGN_IN_PATHS.test(path))) {
      void answer(request, response);
    } else if (signIn !== undefined && PICK_PATH.test(path)) {
      pickPerson(provider, signIn.persons, request, response).catch((error: unknown) => {
        failed(error);
        sendPage(response, 400, 'Dit inlogscherm is verlopen', ['Ga terug en log opnieuw in.']);
      });
    } else response.writeHead(404, { 'content-type': 'application/json' }).end('{"error":"not_found"}');
  });
  return { issuer, tokenUrl: `${address}/token`, jwksUrl: `${address}/jwks`, close };
}

/** The library names a resource server by an address, while an audience may be any text. */
const RESOURCE = 'urn:koppelvlak:api';

function buildProvider(issuer: string, signingKey: JWK, options: AuthorizationServerOptions): Provider {
  const { audience, tokenSeconds = 3600, signIn } = options;
  const policy = interactionPolicy.base();
  // There is nothing to consent to: the law gives a citizen inspection.
  policy.remove('consent');
  return new Provider(issuer, {
    adapter: createMemoryAdapter,
    clients: [...options.clients.map(metadataOf), ...(signIn === undefined ? [] : [signInMetadata(signIn)])],
    clientAuthMethods: ['client_secret_basic', 'private_key_jwt'],
    clientDefaults: {
      grant_types: ['client_credentials'],
      response_types: [],
      redirect_uris: [],
      id_token_signed_response_alg: 'ES256',
    },
    enabledJWA: { idTokenSigningAlgValues: ['ES256'], clientAuthSigningAlgValues: ['ES256', 'PS256', 'RS256'] },
    jwks: { keys: [{ ...signingKey }] },
    responseTypes: ['code'],
    scopes: [...ALL_SCOPES, 'openid'],
    claims: { openid: ['sub', 'bsn'] },
    conformIdTokenClaims: false,
    pkce: { required: () => true },
    cookies: { keys: [randomBytes(32).toString('base64url')] },
    routes: { authorization: '/auth', token: '/token', jwks: '/jwks' },
    ttl: {
      ...{ ClientCredentials: tokenSeconds, AccessToken: 300, AuthorizationCode: 60, IdToken: 300 },
      ...{ Interaction: 600, Session: 600, Grant: 600 },
    },
    interactions: { policy, url: (_ctx, { uid }) => `/kies/${uid}` },
    clientBasedCORS: () => false,
    renderError: (ctx) => {
      ctx.type = 'html';
      ctx.body = htmlPage({ title: 'Inloggen is niet gelukt', paragraphs: ['Ga terug en log opnieuw in.'] });
    },
    // A number as subject would show in its log.
    findAccount: (_ctx, id) => {
      const bsn = signIn?.persons[Number(id)]?.bsn;
      return bsn === undefined ? undefined : { accountId: id, claims: () => ({ sub: `persoon-${id}`, bsn }) };
    },
    loadExistingGrant: async ({ oidc }) => {
      const grant = new oidc.provider.Grant({
        clientId: String(oidc.client?.clientId),
        accountId: String(oidc.session?.accountId),
      });
      grant.addOIDCScope('openid');
      await grant.save();
      return grant;
    },
    features: {
      dPoP: { enabled: false },
      pushedAuthorizationRequests: { enabled: false },
      devInteractions: { enabled: false },
      userinfo: { enabled: false },
      rpInitiatedLogout: { enabled: false },
      clientCredentials: { enabled: true },
      resourceIndicators: {
        enabled: true,
        defaultResource: (_ctx, client) => (isApplication(client) ? RESOURCE : []),
        useGrantedResource: () => true,
        getResourceServerInfo(ctx, indicator, client) {
          if (!isApplication(client) || (indicator !== RESOURCE && indicator !== audience))
            throw new errors.InvalidTarget();
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

const isApplication = (client: Client): boolean => client.grantTypeAllowed('client_credentials');

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
  return {
    client_id: client.id,
    ...(client.scopes.length === 0 ? {} : { scope: client.scopes.join(' ') }),
    ...('secret' in client
      ? { client_secret: client.secret, token_endpoint_auth_method: 'client_secret_basic' }
      : {
          jwks: { keys: client.publicKeys.map((key) => ({ ...key })) },
          token_endpoint_auth_method: 'private_key_jwt',
        }),
  };
}

function signInMetadata({ client, returnPath, clientUrl }: SignIn): ClientMetadata {
  return {
    client_id: client.id,
    client_secret: client.secret,
    token_endpoint_auth_method: 'client_secret_basic',
    // The loopback port of a native client may differ (RFC 8252 section 7.3): the service's is not known beforehand.
    application_type: 'native',
    grant_types: ['authorization_code'],
    response_types: ['code'],
    redirect_uris: [
      ...['127.0.0.1', '[::1]', 'localhost'].map((host) => `http://${host}${returnPath}`),
      ...(clientUrl?.startsWith('https:') ? [`${clientUrl}${returnPath}`] : []),
    ],
    scope: 'openid',
  };
}

const MAX_ENTRIES = 10_000;

/**
 * What the library wants to keep: the `jti` of client assertions, to refuse a second use, and the sessions and codes of the login. In memory,
 * bounded, and gone when the server stops.
 */
function createMemoryAdapter(): Adapter {
  const entries = new LRUCache<string, AdapterPayload>({ max: MAX_ENTRIES });
  return {
    async upsert(id, payload, expiresIn) {
      entries.set(id, payload, expiresIn === undefined ? {} : { ttl: expiresIn * 1000 });
    },
    find: async (id) => entries.get(id),
    findByUid: async (wanted) => [...entries.values()].find(({ uid }) => uid === wanted),
    findByUserCode: async () => undefined,
    async consume(id) {
      const payload = entries.get(id);
      if (payload !== undefined) payload.consumed = Math.floor(Date.now() / 1000);
    },
    async destroy(id) {
      entries.delete(id);
    },
    async revokeByGrantId(revoked) {
      for (const [id, { grantId }] of [...entries]) if (grantId === revoked) entries.delete(id);
    },
  };
}

/** Shows the persons, or goes on as the one that was picked. @throws {Error} for a screen that is not of this browser */
async function pickPerson(
  provider: Provider,
  persons: SignIn['persons'],
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  await provider.interactionDetails(request, response);
  if (request.method !== 'POST') {
    const buttons = persons.map(
      ({ name, bsn }, i) =>
        `<p><button type="submit" name="persoon" value="${i}">${name} (burgerservicenummer ${bsn})</button></p>`,
    );
    sendPage(
      response,
      200,
      'Nagemaakte DigiD (alleen voor de demo)',
      [
        'Dit is niet de echte DigiD. Deze pagina speelt DigiD na. De personen bestaan niet.',
        'Als wie wilt u inloggen?',
      ],
      `<form method="post">${buttons.join('')}<p><button type="submit" name="persoon" value="stop">Stoppen met inloggen</button></p></form>`,
    );
    return;
  }
  const picked = new URLSearchParams(await readForm(request)).get('persoon') ?? '';
  const result =
    persons[Number(picked)] === undefined || picked === ''
      ? { error: 'access_denied', error_description: 'the visitor stopped' }
      : { login: { accountId: picked, remember: false } };
  await provider.interactionFinished(request, response, result, { mergeWithLastSubmission: false });
}

const FORM_BYTES = 1000;

async function readForm(request: IncomingMessage): Promise<string> {
  let text = '';
  for await (const piece of request) {
    text += piece;
    if (text.length > FORM_BYTES) throw new Error('the form is too large');
  }
  return text;
}

/** @param html trusted markup: the demo's own persons */
function sendPage(
  response: ServerResponse,
  status: number,
  title: string,
  paragraphs: readonly string[],
  html = '',
): void {
  response
    .writeHead(status, {
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-store',
      'x-frame-options': 'DENY',
    })
    .end(htmlPage({ title, paragraphs, html }));
}
