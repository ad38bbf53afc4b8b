// Who is calling? The access token of a request, verified. @see RFC 6750, RFC 8725, RFC 9068, FSC Core 1.1
import { hash } from 'node:crypto';
import { type Clock, systemClock } from '../clock.ts';
import type { Caller } from './caller.ts';
import { leewaySeconds } from './claims.ts';
import { clientCertificateThumbprint } from './client-certificate.ts';
import { createKeySet } from './key-set.ts';
import { readProtectedHeader } from './protected-header.ts';
import { createTokenCache } from './token-cache.ts';
import { TokenError } from './token-error.ts';
import { findToken, type HeaderValue, singleHeader, type TokenHeaders } from './token-location.ts';
import type { VerifiedToken } from './verified-token.ts';
import type { VerifierLog } from './verifier-log.ts';
import { createFscVerifier, type FscOptions } from './verify-fsc.ts';
import { verifyOAuth } from './verify-oauth.ts';

export type TokenVerifierOptions = {
  /** Tokens of an OAuth 2.0 authorization server; absent: not accepted. */
  oauth?: { issuer: string; audience: string; jwksUrl?: string | undefined } | undefined;
  /** Tokens of the own FSC Manager; absent: not accepted. */
  fsc?: FscOptions | undefined;
  /** Whether a proxy hands the client certificate on (RFC 9440). If not, that header is not looked at. */
  clientCertificates?: boolean | undefined;
  log: VerifierLog;
  clock?: Clock | undefined;
  fetch?: typeof globalThis.fetch | undefined;
  /** The greatest number of verified tokens remembered; default 10 000. */
  cacheSize?: number | undefined;
};

/** The headers of a request that say who calls. */
export type TokenRequest = TokenHeaders & { clientCertificate?: HeaderValue };

export type TokenVerifier = {
  /**
   * The caller of a request.
   *
   * @param service the FSC service name of what is called. What has none gives the holder of an FSC token no scope
   * @throws {TokenError} when there is no token, or it is not to be accepted
   */
  verify(request: TokenRequest, service?: string): Promise<Caller>;
  /**
   * The same for a token that was verified before, at once; undefined for one that `verify` must look at.
   *
   * @throws {TokenError} when there is no token, or a remembered one is not to be accepted any more
   */
  recall(request: TokenRequest, service?: string): Caller | undefined;
  /** The subject of a token that was accepted before and has not expired: cheap, for rate limits. */
  cachedSubject(token: string): string | undefined;
  /** When the issuer's keys were fetched; undefined without any, or without an OAuth issuer. */
  keysFetchedAt(): Date | undefined;
  /** The end of the FSC certificate that is valid longest; undefined without FSC. */
  fscValidUntil(): Date | undefined;
  close(): void;
};

/** An FSC token gives scope `read` for the service that it names, and nothing elsewhere. */
const noScopes: ReadonlySet<string> = new Set();

/** @throws {Error} when the FSC certificates cannot be used; trouble with the OAuth issuer is logged and tried again */
export function createTokenVerifier(options: TokenVerifierOptions): TokenVerifier {
  const clock = options.clock ?? systemClock;
  const cache = createTokenCache(options.cacheSize ?? 10_000);
  const fsc = options.fsc === undefined ? undefined : createFscVerifier(options.fsc);
  const oauth = options.oauth;
  const keys =
    oauth === undefined
      ? undefined
      : createKeySet({ ...oauth, clock, log: options.log, fetch: options.fetch ?? globalThis.fetch });

  async function verifyAnew(token: string, tokenHash: string, now: Date): Promise<VerifiedToken> {
    const header = readProtectedHeader(token);
    if (fsc !== undefined && header.certificateThumbprint !== undefined) {
      return fsc.verify(token, tokenHash, header, now);
    }
    if (oauth === undefined || keys === undefined) throw new TokenError('invalid', 'no-issuer-configured');
    return verifyOAuth(token, tokenHash, header, now, { ...oauth, keys });
  }

  /** Judged on every use, also of a remembered token. The first that fails answers. */
  function judge(token: VerifiedToken, request: TokenRequest, service: string | undefined): void {
    checkBinding(token, options.clientCertificates === true, request.clientCertificate);
    if (clock.now().getTime() / 1000 >= token.expiry + leewaySeconds) throw new TokenError('expired', 'expired');
    if (token.fsc === undefined) return;
    if (token.fsc.groupId !== options.fsc?.groupId) throw new TokenError('wrong-group', 'group');
    if (service !== undefined && token.fsc.service !== service) throw new TokenError('wrong-service', 'service');
  }

  /** FSC tokens give their scope only for the service that they name. */
  function callerOf(token: VerifiedToken, service: string | undefined): Caller {
    const isElsewhere = token.fsc !== undefined && service === undefined;
    return isElsewhere ? { ...token.caller, scopes: noScopes } : token.caller;
  }

  function recall(request: TokenRequest, service?: string): Caller | undefined {
    const known = cache.get(hash('sha256', findToken(request), 'base64url'), clock.now());
    if (known === undefined) return undefined;
    judge(known, request, service);
    return callerOf(known, service);
  }

  return {
    async verify(request, service) {
      const remembered = recall(request, service);
      if (remembered !== undefined) return remembered;
      const token = findToken(request);
      const tokenHash = hash('sha256', token, 'base64url');
      const verified = await verifyAnew(token, tokenHash, clock.now());
      judge(verified, request, service);
      if (clock.now().getTime() < verified.cacheUntil) cache.set(tokenHash, verified);
      return callerOf(verified, service);
    },
    recall,
    cachedSubject: (token) => cache.get(hash('sha256', token, 'base64url'), clock.now())?.caller.subject,
    keysFetchedAt: () => keys?.fetchedAt(),
    fscValidUntil: () => fsc?.validUntil,
    close() {
      keys?.close();
      cache.clear();
    },
  };
}

/**
 * RFC 8705 section 3: a token that is bound to a client certificate is only good together with it.
 * Without certificates handed on, an FSC token passes, for the Inway has checked the binding on its own connection; an
 * OAuth token does not, for nobody has. With them, every FSC token must be bound, and a missing header is no proof.
 */
function checkBinding(token: VerifiedToken, handedOn: boolean, certificate: HeaderValue): void {
  const isFsc = token.fsc !== undefined;
  if (token.boundTo === undefined) {
    if (isFsc && handedOn) throw new TokenError('invalid', 'not-bound');
    return;
  }
  if (!handedOn) {
    if (isFsc) return;
    throw new TokenError('invalid', 'client-certificate-absent');
  }
  const header = singleHeader(certificate);
  if (header === undefined) throw new TokenError('invalid', 'client-certificate-absent');
  if (clientCertificateThumbprint(header) !== token.boundTo)
    throw new TokenError('invalid', 'client-certificate-mismatch');
}
