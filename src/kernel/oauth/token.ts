import { hash, X509Certificate } from 'node:crypto';
import { decodeProtectedHeader } from 'jose';

// What a request says of its caller before any signature is verified: its access token (the FSC header first where it counts, then RFC 6750
// section 2.1), the client certificate that a proxy handed on (RFC 9440, RFC 8705 section 3.1), the header of the token.

/** A header as received: every occurrence of it. `headers` of Node has only the first `Authorization`, where two must be refused. */
export type HeaderValue = string | readonly string[] | undefined;

/** The headers that can carry a token. */
export type TokenHeaders = { authorization?: HeaderValue; fscAuthorization?: HeaderValue };

/** No issuer makes tokens of this size; larger ones are not even hashed. */
const maxTokenLength = 16_384;

/** RFC 6750: `b64token`; a JWS in compact form uses these characters and dots only. */
const jws = /^[A-Za-z0-9_-]+\.[A-Za-z0-9_-]*\.[A-Za-z0-9_-]*$/;

/** The one value of a header, without the space around it; undefined when the header is absent. */
export function singleHeader(value: HeaderValue): string | undefined {
  if (value === undefined) return undefined;
  if (typeof value === 'string') return value.trim();
  if (value.length === 0) return undefined;
  if (value.length > 1) throw new TokenError('invalid', 'header-repeated');
  return value[0]?.trim();
}

/**
 * The token of a request.
 *
 * @param acceptsFsc whether FSC tokens are accepted here: then `Fsc-Authorization` decides whenever it is there, even when
 *   it is useless. Elsewhere it is not looked at: an Inway adds it to whatever passes, an OAuth token included
 * @throws {TokenError} `missing` without a token, also when another authentication scheme was used (RFC 6750 section
 *   3.1); `invalid` for an empty or repeated header and for anything that is not a JWS in compact form
 */
export function findToken(headers: TokenHeaders, acceptsFsc: boolean): string {
  const fsc = acceptsFsc ? singleHeader(headers.fscAuthorization) : undefined;
  if (fsc !== undefined) return checkShape(withoutScheme(fsc) ?? fsc);
  const authorization = singleHeader(headers.authorization);
  if (authorization === undefined) throw new TokenError('missing', 'no-token');
  if (authorization === '') throw new TokenError('invalid', 'header-empty');
  const token = withoutScheme(authorization);
  if (token === undefined) throw new TokenError('missing', 'no-token');
  return checkShape(token);
}

/** What follows the scheme word `Bearer` (any case); undefined when the value has no such word. */
function withoutScheme(value: string): string | undefined {
  const match = /^bearer(?: +|$)/i.exec(value);
  return match === null ? undefined : value.slice(match[0].length);
}

function checkShape(token: string): string {
  if (token === '') throw new TokenError('invalid', 'header-empty');
  if (token.length > maxTokenLength) throw new TokenError('invalid', 'too-large');
  if (!jws.test(token)) throw new TokenError('invalid', 'malformed');
  return token;
}

/** Far above any certificate in use (an RSA-4096 leaf takes 3 KB), and below what a proxy passes as one header. */
const maxHeaderLength = 16_384;

/** RFC 8941 section 3.3.5: a byte sequence, without parameters (RFC 9440 defines none). */
const byteSequence = /^:([A-Za-z0-9+/]*={0,2}):$/;

/**
 * The SHA-256 thumbprint (base64url, as in `x5t#S256`) of the certificate in a `Client-Cert` header.
 *
 * @throws {TokenError} `invalid` when the value is not one byte sequence that holds exactly one DER certificate
 */
export function clientCertificateThumbprint(header: string): string {
  const encoded = header.length > maxHeaderLength ? undefined : byteSequence.exec(header)?.[1];
  if (encoded === undefined) throw new TokenError('invalid', 'client-certificate-malformed');
  const der = Buffer.from(encoded, 'base64');
  let read: X509Certificate;
  try {
    read = new X509Certificate(der);
  } catch (cause) {
    throw new TokenError('invalid', 'client-certificate-malformed', { cause });
  }
  // X509Certificate takes PEM text and trailing bytes too; the thumbprint must be that of what was sent.
  if (!read.raw.equals(der)) throw new TokenError('invalid', 'client-certificate-malformed');
  return hash('sha256', der, 'base64url');
}

/** What is read of a JWS header before its signature is known to be good: only what chooses the way to verify it. */
export type ProtectedHeader = { alg: string; typ?: string; kid?: string; certificateThumbprint?: string };

/**
 * The header of a JWS in compact form. Members that bring their own key (`jwk`, `jku`, `x5c`, `x5u`) are not looked at.
 *
 * @throws {TokenError} `invalid` when it is not a JSON object with an `alg`, or names anything in `crit`
 */
export function readProtectedHeader(token: string): ProtectedHeader {
  let header: ReturnType<typeof decodeProtectedHeader>;
  try {
    header = decodeProtectedHeader(token);
  } catch (cause) {
    throw new TokenError('invalid', 'malformed', { cause });
  }
  if (typeof header.alg !== 'string') throw new TokenError('invalid', 'malformed');
  if (header.crit !== undefined) throw new TokenError('invalid', 'critical-header');
  const thumbprint: unknown = header['x5t#S256'];
  if (thumbprint !== undefined && typeof thumbprint !== 'string') throw new TokenError('invalid', 'malformed');
  if (header.typ !== undefined && typeof header.typ !== 'string') throw new TokenError('invalid', 'malformed');
  if (header.kid !== undefined && typeof header.kid !== 'string') throw new TokenError('invalid', 'malformed');
  return {
    alg: header.alg,
    ...(header.kid === undefined ? {} : { kid: header.kid }),
    ...(header.typ === undefined ? {} : { typ: header.typ }),
    ...(thumbprint === undefined ? {} : { certificateThumbprint: thumbprint }),
  };
}

/** Who is calling, as told by a token that was verified. */
export type Caller = {
  kind: 'oauth' | 'fsc';
  /** `sub` of the token; an OAuth token without one: its `client_id`. */
  subject: string;
  clientId?: string;
  /** FSC: the peer that calls. */
  peerId?: string;
  /**
   * The organisation identification number (20 digits) that the token proves: of the peer (FSC), of the client by its claim
   * or by configuration (OAuth).
   */
  oin?: string;
  /** `act.sub`: the delegate that acts for the subject. */
  actor?: string;
  scopes: ReadonlySet<string>;
  expiresAt: Date;
  /** SHA-256 of the token, base64url: names the token without giving it away. */
  tokenHash: string;
};

/** Keys that tokens are verified with, and what of it still holds. */
export type KeySource = {
  /** Whether the key, or the state of the keys, that a token was verified with still counts. */
  holds(key: string): boolean;
  /** Whether `holds` may be asked without `freshen` first. */
  isFresh(): boolean;
  /** Resolves when the keys are as new as they have to be. */
  freshen(): Promise<void>;
};

/**
 * What stays true of a token until it expires: signature, issuer, audience and start have been checked. What depends on
 * the request (the client certificate, the service called) or on the moment (the end, the keys) is judged on every use.
 */
export type VerifiedToken = {
  caller: Caller;
  /** `exp`, in seconds. */
  expiry: number;
  /** Epoch milliseconds from which the signature must be verified anew whatever the cache time; absent: at its expiry. */
  verifyAgainAt?: number;
  /** The keys that it was verified with, and which of them. */
  keys: KeySource;
  key: string;
  /** `cnf.x5t#S256`: the client certificate that the token is bound to. */
  boundTo?: string;
  /** FSC only. */
  fsc?: { groupId: string; service: string };
};

/**
 * What the caller must be told. `unavailable`: the token could not be judged, because the keys of the issuer were never
 * fetched and cannot be fetched now; that is a fault of the service, not of the caller.
 */
type TokenErrorCode = 'missing' | 'invalid' | 'expired' | 'wrong-group' | 'wrong-service' | 'unavailable';

/** Why, from a closed list: fit for a log line and a metric label, never holds anything of the token. */
export type TokenErrorReason =
  | 'no-token'
  | 'header-repeated'
  | 'header-empty'
  | 'malformed'
  | 'too-large'
  | 'no-issuer-configured'
  | 'algorithm'
  | 'critical-header'
  | 'type'
  | 'unknown-key'
  | 'signature'
  | 'certificate-not-valid'
  | 'claims-malformed'
  | 'issuer'
  | 'audience'
  | 'not-yet-valid'
  | 'client-certificate-malformed'
  | 'client-certificate-absent'
  | 'client-certificate-mismatch'
  | 'not-bound'
  | 'expired'
  | 'group'
  | 'service'
  | 'keys-unavailable';

/** A token that was refused. */
export class TokenError extends Error {
  readonly code: TokenErrorCode;
  readonly reason: TokenErrorReason;

  constructor(code: TokenErrorCode, reason: TokenErrorReason, options?: ErrorOptions) {
    super(`access token refused (${code}): ${reason}`, options);
    this.name = 'TokenError';
    this.code = code;
    this.reason = reason;
  }
}
