/** Verifies the access token of a request for the interfaces that require one: `app.tokens`. @see RFC 6750, RFC 8725, RFC 9068, FSC Core 1.1 */
import type { FastifyInstance } from 'fastify';
import fp from 'fastify-plugin';
import { LRUCache } from 'lru-cache';
import { Counter, Gauge } from 'prom-client';
import type { ReadinessCheck } from '../lib/operations.ts';
import type { ProxySettings } from '../lib/outbound/guarded-fetch.ts';
import { type Clock, systemClock } from '../lib/time.ts';
import { createFscKeys, fscKeysCheck } from './oauth/fsc-keys.ts';
import { createIssuerKeys, createKeysClient, type IssuerKeys, type VerifierLog } from './oauth/remote-keys.ts';
import {
  type Caller,
  clientCertificateThumbprint,
  readProtectedHeader,
  TokenError,
  type TokenErrorReason,
  type VerifiedToken,
} from './oauth/token.ts';
import { type FscOptions, leewaySeconds, type OAuthOptions, verifyFsc, verifyOAuth } from './oauth/verify-token.ts';

declare module 'fastify' {
  interface FastifyInstance {
    readonly tokens: TokenVerifier;
  }
}

export const tokens = fp(
  async (app: FastifyInstance) => {
    const { areas } = app.settings.server;
    const verifier = verifierOf(app);
    app.decorate('tokens', verifier);
    // The feed is public and served without the keys of an issuer.
    app.readiness.push(...verifier.checks.map((check) => ({ ...check, vital: !areas.includes('raadsfeed') })));
    app.addHook('onClose', verifier.close);
  },
  { name: 'tokens', dependencies: ['service', 'operations', 'metrics'] },
);

function verifierOf({ settings: config, log, clock, metrics }: FastifyInstance): TokenVerifier {
  const settings = config.tokens;
  const { oauthIssuer, oauthAudience, fscCertificates, fscGroupId, fscAudience, fscPeerId } = settings;
  const refused = new Counter({
    name: 'koppelvlak_access_tokens_refused_total',
    help: 'Access tokens that were refused, by reason',
    labelNames: ['reason'],
    registers: [metrics],
  });
  const verifier = createTokenVerifier({
    log,
    clock,
    proxy: config.server,
    keysCacheSeconds: settings.oauthJwksCacheSeconds,
    tokenCacheSeconds: settings.oauthTokenCacheSeconds,
    refused: (reason) => refused.inc({ reason }),
    oauth:
      oauthIssuer === undefined || oauthAudience === undefined
        ? undefined
        : {
            issuer: oauthIssuer,
            audience: oauthAudience,
            jwksUrl: settings.oauthJwksUrl,
            oinClaim: settings.oauthOinClaim,
            clientOins: settings.oauthClientOins,
          },
    fsc:
      fscCertificates === undefined || fscGroupId === undefined || fscPeerId === undefined
        ? undefined
        : { certificates: fscCertificates, groupId: fscGroupId, audiences: fscAudience, peerId: fscPeerId },
    clientCertificates: settings.clientCertificateHeader !== undefined,
  });
  if (fscCertificates !== undefined) {
    new Gauge({
      name: 'koppelvlak_fsc_token_certificate_expiry_timestamp_seconds',
      help: 'When the last certificate that FSC tokens are signed with expires',
      registers: [metrics],
      collect() {
        const end = verifier.fscValidUntil();
        if (end !== undefined) this.set(end.getTime() / 1000);
      },
    });
  }
  return verifier;
}

/** Longer than any issuer's tokens; not even hashed. */
const maxTokenLength = 16_384;

/** RFC 6750: `b64token`; a JWS in compact form uses these characters and dots only. */
const jws = /^[A-Za-z0-9_-]+\.[A-Za-z0-9_-]*\.[A-Za-z0-9_-]*$/;

function singleHeader(values: readonly string[]): string | undefined {
  if (values.length > 1) throw new TokenError('header-repeated');
  return values[0]?.trim();
}

/** @param acceptsFsc then `Fsc-Authorization` decides if present, valid or not; else it is ignored: an Inway always adds it @throws {TokenError} */
export function findToken({ authorization = [], fscAuthorization = [] }: TokenRequest, acceptsFsc: boolean): string {
  const fsc = acceptsFsc ? singleHeader(fscAuthorization) : undefined;
  const text = fsc ?? singleHeader(authorization);
  if (text === undefined) throw new TokenError('no-token');
  if (text === '') throw new TokenError('header-empty');
  // An Inway may pass the bare token.
  const [scheme] = /^bearer(?: +|$)/i.exec(text) ?? [];
  const token = scheme === undefined ? fsc : text.slice(scheme.length);
  if (token === undefined) throw new TokenError('no-token');
  if (token === '') throw new TokenError('header-empty');
  if (token.length > maxTokenLength) throw new TokenError('too-large');
  if (!jws.test(token)) throw new TokenError('malformed');
  return token;
}

export interface TokenVerifierOptions {
  oauth?: OAuthOptions | undefined;
  fsc?: FscOptions | undefined;
  /** Whether a proxy forwards the client certificate (RFC 9440). If not, that header is ignored. */
  clientCertificates?: boolean | undefined;
  log: VerifierLog;
  clock?: Clock | undefined;
  proxy?: ProxySettings | undefined;
  /** How long published keys are used before they are fetched again (seconds); default 300. */
  keysCacheSeconds?: number | undefined;
  /** How long a verified token is accepted without verifying it again (seconds); default 300. */
  tokenCacheSeconds?: number | undefined;
  /** Approximate memory for verified tokens (bytes); default 16 MiB. */
  tokenCacheBytes?: number | undefined;
  refused?: ((reason: TokenErrorReason) => void) | undefined;
}

/** Every occurrence of each header as received: Node's `headers` has only the first `Authorization`, and two must be refused. */
export interface TokenRequest {
  authorization?: readonly string[] | undefined;
  fscAuthorization?: readonly string[] | undefined;
  clientCertificate?: readonly string[];
}

export type TokenVerifier = ReturnType<typeof createTokenVerifier>;

/** Without keys no OAuth token can be verified; old keys are used while the issuer is unavailable. */
function issuerCheck(keys: IssuerKeys, cacheMs: number, clock: Clock): ReadinessCheck {
  return {
    name: 'token-issuer',
    runbook: 'koppelvlaktokensrefused',
    check: async () => {
      await keys.freshen();
      const fetchedAt = keys.fetchedAt();
      if (fetchedAt === undefined) return { ok: false, detail: 'the keys of OAUTH_ISSUER were never fetched' };
      const seconds = Math.round((clock.now().getTime() - fetchedAt.getTime()) / 1000);
      return seconds * 1000 <= cacheMs
        ? { ok: true }
        : { ok: true, warning: `OAUTH_ISSUER is unavailable; its keys are ${seconds} s old` };
    },
  };
}

/** An FSC token gives scope `read` for the service that it names, and no scope elsewhere. */
const noScopes: ReadonlySet<string> = new Set();

/** @throws {Error} when the FSC certificates are unusable; failures to fetch keys are logged and retried */
export function createTokenVerifier(options: TokenVerifierOptions) {
  const { oauth, fsc, log, clock = systemClock } = options;
  const client = createKeysClient(clock, options.proxy);
  const cacheMs = (options.keysCacheSeconds ?? 300) * 1000;
  const tokenCacheMs = (options.tokenCacheSeconds ?? 300) * 1000;
  // Keyed by its text, because hashing costs more than everything else for a cached token.
  const cache = new LRUCache<string, { readonly token: VerifiedToken; readonly until: number }>({
    maxSize: options.tokenCacheBytes ?? 16 * 1024 * 1024,
    // The cached values are parts of the token's own text.
    sizeCalculation: (_entry, text) => ENTRY_BYTES + 4 * text.length,
  });
  const fscKeys =
    fsc === undefined ? undefined : createFscKeys({ source: fsc.certificates, cacheMs, clock, log, client });
  const keys = oauth === undefined ? undefined : createIssuerKeys({ ...oauth, cacheMs, clock, log, client });

  async function verifyAnew(token: string, now: Date): Promise<VerifiedToken> {
    const header = readProtectedHeader(token);
    if (fsc !== undefined && fscKeys !== undefined && header.certificateThumbprint !== undefined) {
      return verifyFsc(token, header, now, { ...fsc, keys: fscKeys });
    }
    if (oauth === undefined || keys === undefined) throw new TokenError('no-issuer-configured');
    return verifyOAuth(token, header, now, { ...oauth, keys });
  }

  /** A token is not verified again while the keys that verified it are still valid. */
  async function verifyOnce(token: string): Promise<VerifiedToken> {
    const known = cache.get(token);
    if (known !== undefined && clock.now().getTime() < known.until) {
      await known.token.source.freshen();
      if (known.token.source.latest() === known.token.keys) return known.token;
    }
    cache.delete(token);
    const now = clock.now();
    const verified = await verifyAnew(token, now);
    const { expiry, verifyAgainAt = Number.POSITIVE_INFINITY } = verified;
    const until = Math.min(now.getTime() + tokenCacheMs, expiry * 1000, verifyAgainAt);
    cache.set(token, { token: verified, until });
    return verified;
  }

  /** Checked on every use, including that of a cached token. */
  function judge(token: VerifiedToken, request: TokenRequest, service: string | undefined): Caller {
    checkBinding(token, options.clientCertificates === true, request.clientCertificate);
    if (clock.now().getTime() / 1000 >= token.expiry + leewaySeconds) throw new TokenError('expired');
    if (token.fsc === undefined) return token.caller;
    if (token.fsc.groupId !== fsc?.groupId) throw new TokenError('group');
    if (service === undefined) return { ...token.caller, scopes: noScopes };
    if (token.fsc.service !== service) throw new TokenError('service');
    return token.caller;
  }

  return {
    /** @param service the FSC service name of the mount; without one, an FSC token gives no scope. @throws {TokenError} */
    async verify(request: TokenRequest, service?: string): Promise<Caller> {
      try {
        const token = findToken(request, fsc !== undefined && service !== undefined);
        return judge(await verifyOnce(token), request, service);
      } catch (error) {
        if (error instanceof TokenError) options.refused?.(error.reason);
        throw error;
      }
    },
    fscValidUntil: (): Date | undefined => fscKeys?.validUntil(),
    checks: [
      ...(keys === undefined ? [] : [issuerCheck(keys, cacheMs, clock)]),
      ...(fscKeys === undefined ? [] : [fscKeysCheck(fscKeys, clock)]),
    ],
    async close(): Promise<void> {
      keys?.close();
      fscKeys?.close();
      await client.close();
    },
  };
}

/**
 * RFC 8705 section 3: a bound token is only valid with its client certificate. When certificates are not passed on, a bound FSC token is accepted,
 * because the Inway has checked it on its own connection; a bound OAuth token is not. When they are, every FSC token must be bound.
 */
function checkBinding(token: VerifiedToken, passedOn: boolean, certificate: readonly string[] = []): void {
  const isFsc = token.fsc !== undefined;
  if (token.boundTo === undefined) {
    if (isFsc && passedOn) throw new TokenError('not-bound');
    return;
  }
  if (!passedOn) {
    if (isFsc) return;
    throw new TokenError('client-certificate-absent');
  }
  const header = singleHeader(certificate);
  if (header === undefined) throw new TokenError('client-certificate-absent');
  if (clientCertificateThumbprint(header) !== token.boundTo) throw new TokenError('client-certificate-mismatch');
}

const ENTRY_BYTES = 1000;
