/** A citizen's browser without script, and an OpenID Connect provider that says whatever the test requires. */
import { createHash, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import type { Clock } from '../../../src/lib/time.ts';
import { actie, actieIn, type LogServer, startLog } from '../support.ts';

export const SESSION_KEY = Buffer.alloc(32, 9).toString('base64');
export const CLIENT = { id: 'inzage', secret: 'geheim van de inzage' };

/** The pages' settings in the environment of a server. */
export function inzageEnv(issuer: string, more: Record<string, string> = {}): Record<string, string> {
  return {
    VERWERKINGENLOG_PAGES: 'true',
    INZAGE_OIDC_ISSUER: issuer,
    INZAGE_OIDC_CLIENT_ID: CLIENT.id,
    INZAGE_OIDC_CLIENT_SECRET: CLIENT.secret,
    INZAGE_SESSION_KEY: SESSION_KEY,
    'inzage.rateLimit': '0',
    ORGANISATION_NAME: 'Gemeente Test',
    INZAGE_ORGANISATION_NAMES: '00000099000000001000=Gemeente Test',
    ...more,
  };
}

export interface Page {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  readonly location: string;
}

/** Keeps cookies, and follows no redirects. */
export class Browser {
  readonly cookies = new Map<string, string>();
  readonly base: string;
  constructor(base: string) {
    this.base = base;
  }

  async open(path: string, init: RequestInit = {}): Promise<Page> {
    const cookie = [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const response = await fetch(new URL(path, this.base), {
      redirect: 'manual',
      ...init,
      headers: { ...(cookie === '' ? {} : { cookie }), ...Object(init.headers) },
    });
    for (const line of response.headers.getSetCookie()) {
      const [pair = ''] = line.split(';', 1);
      const at = pair.indexOf('=');
      if (/Expires=Thu, 01 Jan 1970/i.test(line)) this.cookies.delete(pair.slice(0, at));
      else this.cookies.set(pair.slice(0, at), pair.slice(at + 1));
    }
    const location = response.headers.get('location') ?? '';
    return { status: response.status, headers: response.headers, text: await response.text(), location };
  }

  copy(): Browser {
    const copy = new Browser(this.base);
    for (const [name, value] of this.cookies) copy.cookies.set(name, value);
    return copy;
  }
}

/** The provider's misbehaviour at the next code exchange. */
export interface Lies {
  readonly claims?: Record<string, unknown>;
  /** Claims to omit. */
  readonly without?: readonly string[];
  readonly key?: 'other';
  readonly alg?: 'none';
  readonly status?: number;
  readonly body?: string;
}

export interface Provider {
  readonly issuer: string;
  /** The parameters of the browser's redirect to the provider. */
  readonly asked: URLSearchParams[];
  /** Requests to the token endpoint. */
  readonly exchanged: { readonly authorization: string | undefined; readonly form: URLSearchParams }[];
  lies: Lies;
  /** Modifies the discovery document. */
  metadata: Record<string, unknown>;
  readonly discovered: () => number;
  close(): Promise<void>;
}

/** A provider that logs anybody in: the code is the citizen service number itself, and valid once. */
export async function startProvider(): Promise<Provider> {
  const keys = await generateKeyPair('ES256');
  const others = await generateKeyPair('ES256');
  const jwk = { ...(await exportJWK(keys.publicKey)), kid: 'een', alg: 'ES256', use: 'sig' };
  const nonces = new Map<string, { readonly nonce: string; readonly challenge: string }>();
  const used = new Set<string>();
  let discoveries = 0;
  const server = createServer(async (request, response) => {
    const answer = (status: number, body: unknown): void => {
      response
        .writeHead(status, { 'content-type': 'application/json' })
        .end(typeof body === 'string' ? body : JSON.stringify(body));
    };
    const url = new URL(request.url ?? '', provider.issuer);
    if (url.pathname === '/.well-known/openid-configuration') {
      discoveries += 1;
      answer(200, {
        issuer: provider.issuer,
        authorization_endpoint: `${provider.issuer}/auth`,
        token_endpoint: `${provider.issuer}/token`,
        jwks_uri: `${provider.issuer}/jwks`,
        response_types_supported: ['code'],
        subject_types_supported: ['public'],
        id_token_signing_alg_values_supported: ['ES256'],
        ...provider.metadata,
      });
    } else if (url.pathname === '/jwks') answer(200, { keys: [jwk] });
    else if (url.pathname === '/auth') {
      provider.asked.push(url.searchParams);
      nonces.set(url.searchParams.get('state') ?? '', {
        nonce: url.searchParams.get('nonce') ?? '',
        challenge: url.searchParams.get('code_challenge') ?? '',
      });
      answer(200, {});
    } else if (url.pathname === '/token') {
      const pieces: Buffer[] = [];
      for await (const piece of request) pieces.push(Buffer.from(piece));
      const form = new URLSearchParams(Buffer.concat(pieces).toString());
      provider.exchanged.push({ authorization: request.headers.authorization, form });
      const { lies } = provider;
      if (lies.status !== undefined) return answer(lies.status, lies.body ?? { error: 'invalid_grant' });
      const code = form.get('code') ?? '';
      const [bsn = '', state = ''] = code.split('.', 2);
      const login = nonces.get(state);
      const challenge = createHash('sha256')
        .update(form.get('code_verifier') ?? '')
        .digest('base64url');
      if (login === undefined || login.challenge !== challenge || used.has(code)) {
        return answer(400, { error: 'invalid_grant' });
      }
      used.add(code);
      const now = Math.floor(Date.now() / 1000);
      const claims: Record<string, unknown> = {
        iss: provider.issuer,
        aud: CLIENT.id,
        sub: randomUUID(),
        iat: now,
        exp: now + 60,
        nonce: login.nonce,
        bsn,
        ...lies.claims,
      };
      for (const name of lies.without ?? []) delete claims[name];
      const encode = (part: unknown): string => Buffer.from(JSON.stringify(part)).toString('base64url');
      const idToken =
        lies.alg === 'none'
          ? `${encode({ alg: 'none' })}.${encode(claims)}.`
          : await new SignJWT(claims)
              .setProtectedHeader({ alg: 'ES256', kid: 'een' })
              .sign(lies.key === 'other' ? others.privateKey : keys.privateKey);
      answer(200, { access_token: 'x', token_type: 'Bearer', expires_in: 60, id_token: idToken });
    } else answer(404, {});
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the provider has no port');
  const provider: Provider = {
    issuer: `http://127.0.0.1:${address.port}`,
    asked: [],
    exchanged: [],
    lies: {},
    metadata: {},
    discovered: () => discoveries,
    async close() {
      if (!server.listening) return;
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
  return provider;
}

/** A clock that stays fixed until it is moved. */
export interface MovableClock extends Clock {
  forward(milliseconds: number): void;
}

export function movableClock(): MovableClock {
  let at = Date.now();
  return {
    now: () => new Date(at),
    forward: (milliseconds) => {
      at += milliseconds;
    },
  };
}

export interface InzageServer extends LogServer {
  readonly provider: Provider;
  readonly clock: MovableClock;
  browser(): Browser;
  /** A browser that is logged in as this person. */
  loggedIn(bsn: string): Promise<Browser>;
}

/** Goes to the provider, and returns the redirect address. */
export async function leave(browser: Browser, bsn: string): Promise<string> {
  const away = await browser.open('/inzage/inloggen');
  await fetch(away.location);
  const { searchParams } = new URL(away.location);
  const state = searchParams.get('state') ?? '';
  return `/inzage/terug?${new URLSearchParams({ code: `${bsn}.${state}`, state })}`;
}

/** The real server with the pages, and a provider. */
export async function startInzage(
  options: { env?: Record<string, string>; databaseUrl?: string; provider?: Provider; clock?: MovableClock } = {},
): Promise<InzageServer> {
  const provider = options.provider ?? (await startProvider());
  const clock = options.clock ?? movableClock();
  const log = await startLog({
    clock,
    env: inzageEnv(provider.issuer, options.env),
    ...(options.databaseUrl === undefined ? {} : { databaseUrl: options.databaseUrl }),
  });
  const browser = (): Browser => new Browser(log.server.url);
  return {
    ...log,
    provider,
    clock,
    browser,
    async loggedIn(bsn) {
      const citizen = browser();
      const back = await citizen.open(await leave(citizen, bsn));
      if (back.status !== 303 || back.location !== '/inzage/overzicht') {
        throw new Error(`not logged in: ${back.status} ${back.text}`);
      }
      return citizen;
    },
    async stop() {
      await log.stop();
      if (options.provider === undefined) await provider.close();
    },
  };
}

/** Nine digits that pass the eleven test, different each time. */
export function newBsn(): string {
  for (;;) {
    const digits = String(Math.floor(10_000_000 + Math.random() * 89_999_999));
    const sum = [...digits].reduce((total, digit, index) => total + Number(digit) * (9 - index), 0);
    if (sum % 11 < 10) return `${digits}${sum % 11}`;
  }
}

/**
 * Logs an action about a person.
 * @returns its identity
 */
export async function logAbout(
  inzage: InzageServer,
  bsn: string,
  wishes: Record<string, unknown> = {},
): Promise<string> {
  const scopes = ['create:confidential'];
  return actieIn(await inzage.call(scopes, 'POST', '/verwerkingsacties', actie(bsn, wishes))).actieId;
}

/** Adds an activity to the register. */
export async function registerActivity(
  inzage: InzageServer,
  id: string,
  wishes: Record<string, unknown> = {},
): Promise<void> {
  const body = {
    naam: 'Schuldhulpverlening',
    verantwoordelijkeOrganisatie: '00000099000000001000',
    doel: 'Mensen met schulden helpen',
    grondslag: 'Publieke taak',
    toelichtingGrondslag: 'Wet gemeentelijke schuldhulpverlening',
    ...wishes,
  };
  const { status } = await inzage.call(['register:write'], 'PUT', `/verwerkingsactiviteiten/${id}`, body);
  if (status !== 200 && status !== 201) throw new Error(`not registered: ${status}`);
}
