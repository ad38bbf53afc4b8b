/** Verifies the access token of a request: who is calling? @see RFC 6750, RFC 8725, RFC 9068, FSC Core 1.1 */
import { hash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { FetchJson } from '../../lib/outbound/outbound-client.ts';
import { type Clock, systemClock } from '../../lib/time.ts';
import type { ReadinessCheck } from '../../seams/operations.ts';
import { createFscKeys, fscKeysCheck } from './fsc-keys.ts';
import { createKeySet, type KeySet, type VerifierLog } from './remote-keys.ts';
import {
  type Caller,
  clientCertificateThumbprint,
  findToken,
  type HeaderValue,
  readProtectedHeader,
  singleHeader,
  TokenError,
  type TokenErrorReason,
  type TokenHeaders,
  type VerifiedToken,
} from './token.ts';
import { type FscOptions, leewaySeconds, type OAuthOptions, verifyFsc, verifyOAuth } from './verify-token.ts';

export type TokenVerifierOptions = {
  /** Tokens of an OAuth 2.0 authorization server; absent: not accepted. */
  oauth?: OAuthOptions | undefined;
  /** Tokens of the own FSC Manager; absent: not accepted. */
  fsc?: FscOptions | undefined;
  /** Whether a proxy passes on the client certificate (RFC 9440). If not, that header is ignored. */
  clientCertificates?: boolean | undefined;
  log: VerifierLog;
  clock?: Clock | undefined;
  fetch?: FetchJson | undefined;
  /** How long published keys are used before they are fetched again (seconds); default 300. */
  keysCacheSeconds?: number | undefined;
  /** How long a verified token is accepted without verifying it again (seconds); default 300. */
  tokenCacheSeconds?: number | undefined;
  /** Memory for verified tokens (bytes, about); default 16 MiB. */
  tokenCacheBytes?: number | undefined;
  /** Called for every refused token, to count it by reason. */
  refused?: ((reason: TokenErrorReason) => void) | undefined;
};

/** The headers of a request that say who calls. */
export type TokenRequest = TokenHeaders & { clientCertificate?: HeaderValue };

export type TokenVerifier = {
  /**
   * The caller of a request.
   *
   * @param service the FSC service name of what is called; without one, an FSC token gives no scope
   * @throws {TokenError} when there is no token, or it is not accepted
   */
  verify(request: TokenRequest, service?: string): Promise<Caller>;
  /**
   * The same, synchronously, for a cached token; undefined for one that needs `verify`.
   *
   * @throws {TokenError} when there is no token, or a cached one is no longer accepted
   */
  recall(request: TokenRequest, service?: string): Caller | undefined;
  /** The end of the FSC certificate that is valid longest; undefined without FSC or certificates. */
  fscValidUntil(): Date | undefined;
  /** Readiness checks: the keys of the issuer and the certificates of the Manager. */
  checks: readonly ReadinessCheck[];
  close(): void;
};

/** Without keys no OAuth token can be verified; old keys are used while the issuer is unavailable. */
function issuerCheck(keys: KeySet, cacheMs: number, clock: Clock): ReadinessCheck {
  return {
    name: 'token-issuer',
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

/** @throws {Error} when the FSC certificates cannot be used; failures to fetch keys are logged and retried */
export function createTokenVerifier(options: TokenVerifierOptions): TokenVerifier {
  const { oauth, fsc, log } = options;
  const clock = options.clock ?? systemClock;
  const fetch = options.fetch ?? globalThis.fetch;
  const cacheMs = (options.keysCacheSeconds ?? 300) * 1000;
  const tokenCacheMs = (options.tokenCacheSeconds ?? 300) * 1000;
  // By their text, because hashing it costs more than all else that a cached token takes.
  const cache = new LRUCache<string, Entry>({
    maxSize: options.tokenCacheBytes ?? 16 * 1024 * 1024,
    sizeCalculation: sizeOf,
  });
  /** A token whose signature need not be verified again yet. */
  const cached = (token: string): VerifiedToken | undefined => {
    const entry = cache.get(token);
    const now = clock.now().getTime();
    return entry !== undefined && now < Math.min(entry.until, entry.token.expiry * 1000) ? entry.token : undefined;
  };
  const fscKeys =
    fsc === undefined ? undefined : createFscKeys({ source: fsc.certificates, cacheMs, clock, log, fetch });
  const keys = oauth === undefined ? undefined : createKeySet({ ...oauth, cacheMs, clock, log, fetch });

  const tokenOf = (request: TokenRequest, service: string | undefined): string =>
    findToken(request, fsc !== undefined && service !== undefined);

  async function verifyAnew(token: string, tokenHash: string, now: Date): Promise<VerifiedToken> {
    const header = readProtectedHeader(token);
    if (fsc !== undefined && fscKeys !== undefined && header.certificateThumbprint !== undefined) {
      return verifyFsc(token, tokenHash, header, now, { ...fsc, keys: fscKeys });
    }
    if (oauth === undefined || keys === undefined) throw new TokenError('invalid', 'no-issuer-configured');
    return verifyOAuth(token, tokenHash, header, now, { ...oauth, keys });
  }

  /** A token is not verified again while the keys that verified it still count. */
  async function verifyOnce(token: string): Promise<VerifiedToken> {
    const known = cached(token);
    if (known !== undefined) {
      await known.keys.freshen();
      if (known.keys.holds(known.key)) return known;
    }
    try {
      const now = clock.now();
      const verified = await verifyAnew(token, hash('sha256', token, 'base64url'), now);
      const until = Math.min(now.getTime() + tokenCacheMs, verified.verifyAgainAt ?? Number.POSITIVE_INFINITY);
      cache.set(token, { token: verified, until });
      return verified;
    } catch (error) {
      cache.delete(token);
      throw error;
    }
  }

  /** Checked on every use, also of a cached token. */
  function judge(token: VerifiedToken, request: TokenRequest, service: string | undefined): Caller {
    checkBinding(token, options.clientCertificates === true, request.clientCertificate);
    if (clock.now().getTime() / 1000 >= token.expiry + leewaySeconds) throw new TokenError('expired', 'expired');
    if (token.fsc === undefined) return token.caller;
    if (token.fsc.groupId !== fsc?.groupId) throw new TokenError('wrong-group', 'group');
    // FSC tokens give their scope only for the service that they name.
    if (service === undefined) return { ...token.caller, scopes: noScopes };
    if (token.fsc.service !== service) throw new TokenError('wrong-service', 'service');
    return token.caller;
  }

  function counted(error: unknown): never {
    if (error instanceof TokenError) options.refused?.(error.reason);
    throw error;
  }

  return {
    async verify(request, service) {
      try {
        return judge(await verifyOnce(tokenOf(request, service)), request, service);
      } catch (error) {
        return counted(error);
      }
    },
    recall(request, service) {
      try {
        const known = cached(tokenOf(request, service));
        if (known === undefined || !known.keys.isFresh() || !known.keys.holds(known.key)) return undefined;
        return judge(known, request, service);
      } catch (error) {
        return counted(error);
      }
    },
    fscValidUntil: () => fscKeys?.validUntil(),
    checks: [
      ...(keys === undefined ? [] : [issuerCheck(keys, cacheMs, clock)]),
      ...(fscKeys === undefined ? [] : [fscKeysCheck(fscKeys, clock)]),
    ],
    close() {
      keys?.close();
      fscKeys?.close();
      cache.clear();
    },
  };
}

/**
 * RFC 8705 section 3: a token that is bound to a client certificate is only good together with it.
 * When certificates are not passed on, a bound FSC token is accepted, because the Inway has checked the binding on its own connection; a
 * bound OAuth token is not. When they are, every FSC token must be bound, and a missing header is a refusal.
 */
function checkBinding(token: VerifiedToken, passedOn: boolean, certificate: HeaderValue): void {
  const isFsc = token.fsc !== undefined;
  if (token.boundTo === undefined) {
    if (isFsc && passedOn) throw new TokenError('invalid', 'not-bound');
    return;
  }
  if (!passedOn) {
    if (isFsc) return;
    throw new TokenError('invalid', 'client-certificate-absent');
  }
  const header = singleHeader(certificate);
  if (header === undefined) throw new TokenError('invalid', 'client-certificate-absent');
  if (clientCertificateThumbprint(header) !== token.boundTo)
    throw new TokenError('invalid', 'client-certificate-mismatch');
}

/** Size of an entry without its texts, and of a scope. */
const ENTRY_BYTES = 700;
const SCOPE_BYTES = 60;

type Entry = { token: VerifiedToken; until: number };

/** Bytes of an entry, about: a character takes up to two. */
function sizeOf({ token: { caller, key, boundTo, fsc } }: Entry, text: string): number {
  const { subject, clientId, actor, publishedFor, oin, peerId, tokenHash } = caller;
  const texts = [text, key, boundTo, fsc?.groupId, fsc?.service, subject, clientId, actor, publishedFor, oin, peerId];
  const characters = [...texts, tokenHash, ...caller.scopes].reduce((sum, one) => sum + (one?.length ?? 0), 0);
  return ENTRY_BYTES + SCOPE_BYTES * caller.scopes.size + 2 * characters;
}
