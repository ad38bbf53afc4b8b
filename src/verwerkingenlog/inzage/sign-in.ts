/** Logging in at an OpenID Connect provider: authorization code with PKCE, state and nonce (OpenID Connect Core 1.0 section 3.1, RFC 7636). */
import type { FastifyInstance } from 'fastify';
import * as oidc from 'openid-client';
import { createGuardedConnections, headerValue, readBody } from '../../lib/outbound/guarded-fetch.ts';
import { isBsn } from '../../lib/patterns.ts';
import type { Config } from '../../settings/read-config.ts';

/** Why a login failed. The reason is for the log and the metrics; it never contains data from the provider or the browser. */
export class SignInError extends Error {
  readonly reason: SignInFailure;
  constructor(reason: SignInFailure, options: ErrorOptions = {}) {
    super(`login failed: ${reason}`, options);
    this.name = 'SignInError';
    this.reason = reason;
  }
}

/** `refused`: by the provider or the citizen. `response`: the answer does not match the request. */
export type SignInFailure = 'unavailable' | 'refused' | 'response' | 'level' | 'no-bsn';

export interface LoginAttempt {
  readonly state: string;
  readonly nonce: string;
  readonly codeVerifier: string;
}

const MAX_BYTES = 262_144;
const CONNECTIONS = 8;
/** Concurrent calls; beyond them a citizen is asked to come back. */
const MAX_CALLS = 64;
/** How long the provider's metadata are used before they are read again. */
const METADATA_MS = 15 * 60_000;

export function createSignIn({ settings: { inzage: settings, server: proxy }, clock }: FastifyInstance) {
  const { issuer = '', clientId = '', clientSecret = '', timeoutMs } = settings;
  const calls = createProviderFetch(timeoutMs, proxy);
  let known: { readonly provider: Promise<oidc.Configuration>; readonly until: number } | undefined;

  const discover = (): Promise<oidc.Configuration> =>
    oidc.discovery(new URL(issuer), clientId, clientSecret, oidc.ClientSecretBasic(clientSecret), {
      [oidc.customFetch]: calls.fetch,
      timeout: Math.ceil(timeoutMs / 1000),
      // Signatures of ID tokens are verified even when they came over TLS. Without TLS only outside production, as the configuration ensures.
      execute: [oidc.enableNonRepudiationChecks, ...(issuer.startsWith('http:') ? [oidc.allowInsecureRequests] : [])],
    });

  /** The provider's metadata, shared by all callers. A failure to read them is not cached. */
  const provider = async (): Promise<oidc.Configuration> => {
    const now = clock.now().getTime();
    if (known === undefined || known.until <= now) known = { provider: discover(), until: now + METADATA_MS };
    const entry = known;
    try {
      return await entry.provider;
    } catch (cause) {
      if (known === entry) known = undefined;
      throw new SignInError('unavailable', { cause });
    }
  };

  return {
    /** The address where the browser logs in, and the values that it must come back with. @throws {SignInError} `unavailable` */
    async start(redirectUri: string): Promise<{ readonly address: string; readonly attempt: LoginAttempt }> {
      const configuration = await provider();
      const attempt = {
        state: oidc.randomState(),
        nonce: oidc.randomNonce(),
        codeVerifier: oidc.randomPKCECodeVerifier(),
      };
      const address = oidc.buildAuthorizationUrl(configuration, {
        redirect_uri: redirectUri,
        scope: settings.scope,
        state: attempt.state,
        nonce: attempt.nonce,
        code_challenge: await oidc.calculatePKCECodeChallenge(attempt.codeVerifier),
        code_challenge_method: 'S256',
        // On a shared computer the provider may still have the previous user's session.
        prompt: 'login',
        ...(settings.levels.length === 0 ? {} : { acr_values: settings.levels.join(' ') }),
      });
      return { address: address.href, attempt };
    },
    /** The citizen service number of the citizen who came back. @param answer the address that the browser came back to @throws {SignInError} */
    async finish(answer: URL, { state, nonce, codeVerifier }: LoginAttempt): Promise<string> {
      const configuration = await provider();
      const claims = await oidc
        .authorizationCodeGrant(configuration, answer, {
          expectedState: state,
          expectedNonce: nonce,
          pkceCodeVerifier: codeVerifier,
          idTokenExpected: true,
        })
        .then(
          (tokens) => tokens.claims(),
          (cause: unknown) => {
            throw new SignInError(failureOf(cause), { cause });
          },
        );
      const { levels, bsnClaim } = settings;
      if (levels.length > 0 && !levels.some((level) => level === claims?.acr)) throw new SignInError('level');
      const bsn = claims !== undefined && Object.hasOwn(claims, bsnClaim) ? claims[bsnClaim] : undefined;
      if (typeof bsn !== 'string' || !isBsn(bsn)) throw new SignInError('no-bsn');
      return bsn;
    },
    /** Where the browser logs out at the provider too; undefined when the provider supports none. */
    async logoutAddress(): Promise<string | undefined> {
      const configuration = await provider().catch(() => undefined);
      const endpoint = configuration?.serverMetadata().end_session_endpoint;
      if (endpoint === undefined || !URL.canParse(endpoint)) return undefined;
      const address = new URL(endpoint);
      address.searchParams.set('client_id', clientId);
      return address.href;
    },
    close: calls.close,
  };
}

function failureOf(error: unknown): SignInFailure {
  if (error instanceof oidc.AuthorizationResponseError) return 'refused';
  if (error instanceof oidc.ResponseBodyError) return error.status >= 500 ? 'unavailable' : 'refused';
  if (!(error instanceof oidc.ClientError)) return 'unavailable';
  const { code, cause } = error;
  if (cause instanceof Response && cause.status >= 500) return 'unavailable';
  // Without a code it is an error of the connection.
  return code === undefined || code === 'OAUTH_TIMEOUT' || code === 'OAUTH_ABORT' ? 'unavailable' : 'response';
}

/** The library's calls, under the rules for outgoing ones: limits on time, bytes and number, no redirect, no link-local address. */
function createProviderFetch(timeoutMs: number, proxy: Config['server']) {
  const connections = createGuardedConnections({
    // The operator named it, and it may be on the organisation's own network.
    rules: { allowPrivate: true },
    proxy,
    maxRedirects: 0,
    connectTimeoutMs: timeoutMs,
    agent: { connections: CONNECTIONS, headersTimeout: timeoutMs, bodyTimeout: timeoutMs, keepAliveTimeout: 15_000 },
  });
  let underWay = 0;
  const fetch: oidc.CustomFetch = async (address, { method, headers, body, signal }) => {
    if (underWay >= MAX_CALLS) throw new Error('too many calls to the provider are under way');
    if (method !== 'GET' && method !== 'POST') throw new TypeError(`no call of the provider is ${method}`);
    underWay += 1;
    try {
      const limit = AbortSignal.timeout(timeoutMs);
      const within = signal === undefined ? limit : AbortSignal.any([signal, limit]);
      const text = body === undefined || body === null ? null : String(body);
      const { answer } = await connections.request(address, { method, headers, body: text, signal: within }, 'none');
      const bytes = await readBody(answer.body, headerValue(answer.headers['content-encoding']), MAX_BYTES);
      return new Response(new Uint8Array(bytes), {
        status: answer.statusCode,
        headers: { 'content-type': headerValue(answer.headers['content-type']) ?? '' },
      });
    } finally {
      underWay -= 1;
    }
  };
  return { fetch, close: connections.close };
}
