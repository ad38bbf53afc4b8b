/** The demo's stand-in for the national login, DigiD (OpenID Connect Core 1.0, RFC 7636). It must never run where real data are. */

import { hash, randomBytes } from 'node:crypto';
import type { FastifyInstance, FastifyReply } from 'fastify';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { LRUCache } from 'lru-cache';
import { type HtmlValue, html } from '../../lib/template.ts';
import { htmlPage } from '../../plugins/pages.ts';
import { readBasic } from '../authorization-server.ts';
import type { DemoSetup } from '../demo-part.ts';
import { organisation, persons, uitvoerder } from '../example-data.ts';

export interface LoginOptions {
  readonly issuer: () => string;
  readonly client: { readonly id: string; readonly secret: string };
  /** Path on the client to which the browser returns. */
  readonly returnPath: string;
  readonly clientUrl?: string | undefined;
  readonly persons: readonly { readonly bsn: string; readonly name: string }[];
}

interface Login {
  readonly redirectUri: string;
  readonly challenge: string;
  readonly nonce: string;
  readonly person: number;
}

const CODE_MS = 60_000;
const MAX_CODES = 1000;
const LOOPBACK = ['127.0.0.1', '[::1]', 'localhost'];

/** Serves the login below the prefix of `app`, whose forms arrive as `URLSearchParams`. */
export async function serveLogin(app: FastifyInstance, options: LoginOptions): Promise<void> {
  const { issuer, client, persons } = options;
  const { privateKey, publicKey } = await generateKeyPair('ES256');
  const jwk = { ...(await exportJWK(publicKey)), kid: 'login', alg: 'ES256', use: 'sig' };
  const codes = new LRUCache<string, Login>({ max: MAX_CODES, ttl: CODE_MS });

  app.get('/.well-known/openid-configuration', async () => ({
    issuer: issuer(),
    authorization_endpoint: `${issuer()}/auth`,
    token_endpoint: `${issuer()}/token`,
    jwks_uri: `${issuer()}/jwks`,
    response_types_supported: ['code'],
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: ['ES256'],
    code_challenge_methods_supported: ['S256'],
  }));
  app.get('/jwks', async () => ({ keys: [jwk] }));

  app.get<{ Querystring: Question }>('/auth', async ({ query }, reply) => {
    return isAllowed(query, options) ? sendPersons(reply, persons) : sendRefusal(reply);
  });
  app.post<{ Querystring: Question; Body: URLSearchParams }>('/auth', async ({ query, body }, reply) => {
    if (!isAllowed(query, options)) return sendRefusal(reply);
    const { redirect_uri: redirectUri, code_challenge: challenge = '', nonce = '', state = '' } = query;
    const back = new URL(redirectUri);
    const picked = body.get('persoon') ?? '';
    if (/^\d+$/.test(picked) && persons[Number(picked)] !== undefined) {
      const code = randomBytes(32).toString('base64url');
      codes.set(code, { redirectUri, challenge, nonce, person: Number(picked) });
      back.searchParams.set('code', code);
    } else back.searchParams.set('error', 'access_denied');
    back.searchParams.set('state', state);
    return reply.redirect(back.href, 303);
  });

  app.post<{ Body: URLSearchParams }>('/token', async ({ body, headers }, reply) => {
    const { id, secret } = readBasic(headers.authorization);
    if (id !== client.id || secret !== client.secret) return reply.code(401).send({ error: 'invalid_client' });
    const code = body.get('code') ?? '';
    const login = codes.get(code);
    codes.delete(code);
    const bsn = persons[login?.person ?? -1]?.bsn;
    const proven = hash('sha256', body.get('code_verifier') ?? '', 'base64url');
    if (login?.challenge !== proven || body.get('redirect_uri') !== login.redirectUri || bsn === undefined)
      return reply.code(400).send({ error: 'invalid_grant' });
    const idToken = await new SignJWT({ bsn, nonce: login.nonce })
      .setProtectedHeader({ alg: 'ES256', kid: jwk.kid })
      .setIssuer(issuer())
      .setAudience(client.id)
      // A number as subject would show in a log.
      .setSubject(`persoon-${login.person}`)
      .setIssuedAt()
      .setExpirationTime('5m')
      .sign(privateKey);
    const accessToken = randomBytes(32).toString('base64url');
    return reply
      .header('cache-control', 'no-store')
      .send({ access_token: accessToken, token_type: 'Bearer', expires_in: 300, id_token: idToken });
  });
}

interface Question {
  readonly client_id: string;
  readonly redirect_uri: string;
  readonly code_challenge?: string;
  readonly code_challenge_method?: string;
  readonly nonce?: string;
  readonly state?: string;
}

/** The loopback port of a client may differ (RFC 8252 section 7.3): the service's is not known beforehand. */
function isAllowed(question: Question, { client, returnPath, clientUrl }: LoginOptions): boolean {
  const { client_id: clientId, redirect_uri: redirectUri, code_challenge: challenge = '' } = question;
  if (clientId !== client.id || challenge === '' || question.code_challenge_method !== 'S256') return false;
  if (!URL.canParse(redirectUri)) return false;
  const { protocol, hostname, pathname, href } = new URL(redirectUri);
  const isLocal = protocol === 'http:' && LOOPBACK.includes(hostname) && pathname === returnPath;
  return isLocal || (clientUrl?.startsWith('https:') === true && href === `${clientUrl}${returnPath}`);
}

function sendRefusal(reply: FastifyReply): FastifyReply {
  return sendPage(reply, 400, 'Inloggen is niet gelukt', ['Ga terug en log opnieuw in.']);
}

function sendPersons(reply: FastifyReply, persons: LoginOptions['persons']): FastifyReply {
  const buttons = persons.map(
    ({ name, bsn }, i) =>
      html`<p><button type="submit" name="persoon" value="${i}">${name} (burgerservicenummer ${bsn})</button></p>`,
  );
  const stop = html`<p><button type="submit" name="persoon" value="stop">Stoppen met inloggen</button></p>`;
  return sendPage(
    reply,
    200,
    'Nagemaakte DigiD (alleen voor de demo)',
    ['Dit is niet de echte DigiD. Deze pagina speelt DigiD na. De personen bestaan niet.', 'Als wie wilt u inloggen?'],
    html`<form method="post">${buttons}${stop}</form>`,
  );
}

function sendPage(
  reply: FastifyReply,
  status: number,
  title: string,
  paragraphs: readonly string[],
  content?: HtmlValue,
): FastifyReply {
  return reply
    .code(status)
    .headers({ 'cache-control': 'no-store', 'x-frame-options': 'DENY' })
    .type('text/html; charset=utf-8')
    .send(htmlPage({ title, paragraphs, content }));
}

const PROVIDER = '/digid';
const CLIENT = 'inzage-pagina';
const SUPPLIER = '00000099000000002000';

const clientSecret = ({ secret }: DemoSetup): Promise<string> => secret('inspection-client');

export async function serveInzageLogin(app: FastifyInstance, setup: DemoSetup): Promise<void> {
  const options = {
    issuer: () => setup.authorizationUrl() + PROVIDER,
    client: { id: CLIENT, secret: await clientSecret(setup) },
    returnPath: '/inzage/terug',
    clientUrl: setup.publicBaseUrl,
    persons: [
      { bsn: persons.eerste, name: 'Mevrouw E. de Eerste' },
      { bsn: persons.tweede, name: 'De heer T. Tweede' },
    ],
  };
  await app.register((scope) => serveLogin(scope, options), { prefix: PROVIDER });
}

export const inzageVariables = async (setup: DemoSetup): Promise<Record<string, string>> => ({
  VERWERKINGENLOG_PAGES: 'true',
  INZAGE_OIDC_ISSUER: setup.authorizationUrl() + PROVIDER,
  INZAGE_OIDC_CLIENT_ID: CLIENT,
  INZAGE_OIDC_CLIENT_SECRET: await clientSecret(setup),
  INZAGE_SESSION_KEY: await setup.secret('session-key'),
  INZAGE_ORGANISATION_NAMES: `${uitvoerder}=${organisation},${SUPPLIER}=${organisation}`,
});
