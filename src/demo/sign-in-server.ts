/**
 * Plays the national login (DigiD) for the demo and the tests: an OpenID Connect provider where the visitor picks one of the demo's persons
 * instead of proving who he or she is. It is a stand-in: nothing like it may run where real data are.
 */
import { randomBytes } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { JWK } from 'jose';
import { type AdapterFactory, interactionPolicy, Provider } from 'oidc-provider';
import { htmlPage } from '../plugins/pages.ts';

export interface SignInPerson {
  readonly bsn: string;
  readonly name: string;
}

export interface SignInServerOptions {
  /** Address of this provider; its path is where it is mounted. */
  readonly issuer: string;
  readonly signingKey: JWK;
  readonly client: { readonly id: string; readonly secret: string };
  /** Path on the client that the browser comes back to. */
  readonly returnPath: string;
  /** Other address than loopback that the client may have. */
  readonly clientUrl?: string | undefined;
  readonly persons: readonly SignInPerson[];
  readonly adapter: AdapterFactory;
  readonly failed: (error: Error) => void;
}

const FORM_BYTES = 1000;
const INTERACTION = /^\/kies\/[\w-]{1,64}$/;
const PATHS = /^\/(auth(\/[\w-]{1,64})?|token|jwks|\.well-known\/openid-configuration)$/;

/** @returns answers a request under the issuer's path; false when it has nothing there */
export function createSignInServer(
  options: SignInServerOptions,
): (request: IncomingMessage, response: ServerResponse) => boolean {
  const provider = buildProvider(options);
  provider.on('server_error', (_ctx, error) => options.failed(error));
  provider.onerror = options.failed;
  const answer = provider.callback();
  const { pathname: mounted } = new URL(options.issuer);
  return (request, response) => {
    const url = request.url ?? '';
    if (!url.startsWith(`${mounted}/`)) return false;
    const path = url.slice(mounted.length).split('?', 1)[0] ?? '';
    if (INTERACTION.test(path)) {
      pickPerson(provider, options, request, response).catch((error: unknown) => {
        options.failed(error instanceof Error ? error : new Error('the stand-in failed'));
        sendPage(response, 400, 'Dit inlogscherm is verlopen', ['Ga terug en log opnieuw in.']);
      });
      return true;
    }
    if (!PATHS.test(path)) return false;
    // The provider finds from `originalUrl` where it is mounted.
    Object.assign(request, { originalUrl: url, url: url.slice(mounted.length) });
    void answer(request, response);
    return true;
  };
}

function buildProvider({ issuer, signingKey, client, returnPath, clientUrl, persons, adapter }: SignInServerOptions) {
  const policy = interactionPolicy.base();
  // There is nothing to consent to: the law gives a citizen inspection.
  policy.remove('consent');
  const { pathname: mounted } = new URL(issuer);
  const scope = 'openid';
  return new Provider(issuer, {
    adapter,
    clients: [
      {
        client_id: client.id,
        client_secret: client.secret,
        token_endpoint_auth_method: 'client_secret_basic',
        // Of a native client the port on loopback may differ (RFC 8252 section 7.3): the service's is not known beforehand.
        application_type: 'native',
        grant_types: ['authorization_code'],
        response_types: ['code'],
        redirect_uris: [
          ...['127.0.0.1', '[::1]', 'localhost'].map((host) => `http://${host}${returnPath}`),
          ...(clientUrl?.startsWith('https:') ? [`${clientUrl}${returnPath}`] : []),
        ],
        id_token_signed_response_alg: 'ES256',
        scope,
      },
    ],
    clientAuthMethods: ['client_secret_basic'],
    enabledJWA: { idTokenSigningAlgValues: ['ES256'] },
    jwks: { keys: [{ ...signingKey }] },
    scopes: [scope],
    claims: { openid: ['sub', 'bsn'] },
    conformIdTokenClaims: false,
    responseTypes: ['code'],
    pkce: { required: () => true },
    routes: { authorization: '/auth', token: '/token', jwks: '/jwks' },
    cookies: { keys: [randomBytes(32).toString('base64url')] },
    ttl: { AuthorizationCode: 60, IdToken: 300, Interaction: 600, Session: 600, Grant: 600, AccessToken: 300 },
    interactions: { policy, url: (_ctx, { uid }) => `${mounted}/kies/${uid}` },
    clientBasedCORS: () => false,
    renderError: (ctx) => {
      ctx.type = 'html';
      ctx.body = htmlPage({ title: 'Inloggen is niet gelukt', paragraphs: ['Ga terug en log opnieuw in.'] });
    },
    // A number as subject would stand in its log.
    findAccount: (_ctx, id) => {
      const person = persons[Number(id)];
      return person === undefined
        ? undefined
        : { accountId: id, claims: () => ({ sub: `persoon-${id}`, bsn: person.bsn }) };
    },
    loadExistingGrant: async (ctx) => {
      const grant = new ctx.oidc.provider.Grant({
        clientId: client.id,
        accountId: String(ctx.oidc.session?.accountId),
      });
      grant.addOIDCScope(scope);
      await grant.save();
      return grant;
    },
    features: {
      devInteractions: { enabled: false },
      userinfo: { enabled: false },
      rpInitiatedLogout: { enabled: false },
      pushedAuthorizationRequests: { enabled: false },
      dPoP: { enabled: false },
    },
  });
}

/** Shows the persons, or goes on as the one that was picked. */
async function pickPerson(
  provider: Provider,
  { persons }: SignInServerOptions,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  // Throws for a screen that is not of this browser.
  await provider.interactionDetails(request, response);
  if (request.method !== 'POST') {
    const buttons = persons.map(
      ({ name, bsn }, i) =>
        `<p><button type="submit" name="persoon" value="${i}">${name} (burgerservicenummer ${bsn})</button></p>`,
    );
    const form = `<form method="post">${buttons.join('')}<p><button type="submit" name="persoon" value="stop">Stoppen met inloggen</button></p></form>`;
    sendPage(
      response,
      200,
      'Nagemaakte DigiD (alleen voor de demo)',
      [
        'Dit is niet de echte DigiD. Deze pagina speelt DigiD na. De personen bestaan niet.',
        'Als wie wilt u inloggen?',
      ],
      form,
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

async function readForm(request: IncomingMessage): Promise<string> {
  const pieces: Buffer[] = [];
  let bytes = 0;
  for await (const piece of request) {
    const part = Buffer.from(piece);
    bytes += part.length;
    if (bytes > FORM_BYTES) throw new Error('the form is too large');
    pieces.push(part);
  }
  return Buffer.concat(pieces).toString('utf8');
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
