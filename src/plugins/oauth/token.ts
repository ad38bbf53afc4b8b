/**
 * What a request claims about its caller before any signature is verified (client certificate, header of the token), and what is known after:
 * the caller, or the reason of a refusal. @see RFC 9440, RFC 8705 section 3.1
 */
import { hash, X509Certificate } from 'node:crypto';
import { decodeProtectedHeader } from 'jose';

/** Well above any certificate in use (an RSA-4096 leaf takes 3 KB), and below what a proxy passes as one header. */
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
  // X509Certificate also accepts PEM and trailing bytes; the thumbprint must be that of the bytes sent.
  if (!read.raw.equals(der)) throw new TokenError('invalid', 'client-certificate-malformed');
  return hash('sha256', der, 'base64url');
}

/** The members of a JWS header that select how to verify it; the signature is not verified yet. */
export interface ProtectedHeader {
  alg: string;
  typ: string | undefined;
  kid: string | undefined;
  certificateThumbprint: string | undefined;
}

/**
 * The header of a JWS in compact form. Members that bring their own key (`jwk`, `jku`, `x5c`, `x5u`) are ignored.
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
  const { typ, kid, 'x5t#S256': certificateThumbprint }: Record<string, unknown> = header;
  const text = (value: unknown): string | undefined => {
    if (value === undefined || typeof value === 'string') return value;
    throw new TokenError('invalid', 'malformed');
  };
  return { alg: header.alg, typ: text(typ), kid: text(kid), certificateThumbprint: text(certificateThumbprint) };
}

/** Who is calling, according to a verified token. */
export interface Caller {
  kind: 'oauth' | 'fsc';
  /** `sub` of the token; an OAuth token without one: its `client_id`. */
  subject: string;
  clientId?: string | undefined;
  /**
   * The organisation identification number (20 digits) that the token proves: of the peer (FSC), of the client by its claim
   * or by configuration (OAuth).
   */
  oin?: string | undefined;
  /** `act.sub`: the delegate that acts for the subject. */
  actor?: string | undefined;
  /** FSC, `pdi`: the peer for whom this one offers the service. */
  publishedFor?: string | undefined;
  scopes: ReadonlySet<string>;
  /** SHA-256 of the token, base64url: names the token without giving it away. */
  tokenHash: string;
}

/** The keys that tokens were verified with: they are verified again when the keys changed. */
export interface KeySource {
  /** The same object for as long as no key was added or withdrawn. Undefined: none were ever fetched. */
  latest(): object | undefined;
  /** Resolves when the keys are recent enough; never rejects. */
  freshen(): Promise<void>;
}

/**
 * What stays true of a token until it expires: signature, issuer, audience and `nbf` were checked. What depends on the request (client
 * certificate, service) or on the moment (expiry, keys) is checked on every use.
 */
export interface VerifiedToken {
  caller: Caller;
  /** `exp`, in seconds. */
  expiry: number;
  /** Epoch milliseconds from which the signature must be verified again, whatever the cache time; absent: at its expiry. */
  verifyAgainAt?: number;
  /** Where its key came from, and the keys at that time: the token is verified again when they have changed. */
  source: KeySource;
  keys: object;
  /** `cnf.x5t#S256`: the client certificate that the token is bound to. */
  boundTo?: string | undefined;
  /** FSC only. */
  fsc?: { groupId: string; service: string };
}

/**
 * What to tell the caller. `unavailable`: the token could not be verified because the issuer's keys could never be fetched, which is not
 * the caller's fault.
 */
type TokenErrorCode = 'missing' | 'invalid' | 'expired' | 'wrong-group' | 'wrong-service' | 'unavailable';

/** Why, from a closed list: safe as a log line and a metric label. */
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
