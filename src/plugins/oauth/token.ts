/** A request's claims about its caller before any signature is verified, and the result afterwards: the caller, or the reason for a refusal. */
import { hash, X509Certificate } from 'node:crypto';
import { decodeProtectedHeader } from 'jose';

/** Well above any certificate in use (an RSA-4096 leaf takes 3 KB), and below what a proxy passes as one header. */
const maxHeaderLength = 16_384;

/** RFC 8941 section 3.3.5: a byte sequence, without parameters (RFC 9440 defines none). */
const byteSequence = /^:([A-Za-z0-9+/]*={0,2}):$/;

/** SHA-256 thumbprint (base64url) of `Client-Cert` (RFC 9440, RFC 8705 section 3.1). @throws {TokenError} unless it is one DER certificate */
export function clientCertificateThumbprint(header: string): string {
  const encoded = header.length > maxHeaderLength ? undefined : byteSequence.exec(header)?.[1];
  if (encoded === undefined) throw new TokenError('client-certificate-malformed');
  const der = Buffer.from(encoded, 'base64');
  let read: X509Certificate;
  try {
    read = new X509Certificate(der);
  } catch (cause) {
    throw new TokenError('client-certificate-malformed', { cause });
  }
  // X509Certificate also accepts PEM and trailing bytes; the thumbprint must be that of the bytes sent.
  if (!read.raw.equals(der)) throw new TokenError('client-certificate-malformed');
  return hash('sha256', der, 'base64url');
}

export type ProtectedHeader = ReturnType<typeof readProtectedHeader>;

/** Members that bring their own key (`jwk`, `jku`, `x5c`, `x5u`) are ignored. @throws {TokenError} without an `alg`, or with anything in `crit` */
export function readProtectedHeader(token: string) {
  let header: ReturnType<typeof decodeProtectedHeader>;
  try {
    header = decodeProtectedHeader(token);
  } catch (cause) {
    throw new TokenError('malformed', { cause });
  }
  const { alg, crit, typ, kid, 'x5t#S256': certificateThumbprint }: Record<string, unknown> = header;
  if (typeof alg !== 'string') throw new TokenError('malformed');
  if (crit !== undefined) throw new TokenError('critical-header');
  const text = (value: unknown): string | undefined => {
    if (value === undefined || typeof value === 'string') return value;
    throw new TokenError('malformed');
  };
  return { alg, typ: text(typ), kid: text(kid), certificateThumbprint: text(certificateThumbprint) };
}

export interface Caller {
  kind: 'oauth' | 'fsc';
  /** `sub` of the token; an OAuth token without one: its `client_id`. */
  subject: string;
  clientId?: string | undefined;
  /** The OIN proven by the token: of the peer (FSC), or of the client by its claim or by configuration (OAuth). */
  oin?: string | undefined;
  /** `act.sub`: the delegate that acts for the subject. */
  actor?: string | undefined;
  /** FSC, `pdi`: the peer on whose behalf this one offers the service. */
  publishedFor?: string | undefined;
  scopes: ReadonlySet<string>;
  /** SHA-256 of the token, base64url: identifies the token without revealing it. */
  tokenHash: string;
}

export interface KeySource {
  /** The same object until a key is added or withdrawn. Undefined: none were ever fetched. */
  latest(): object | undefined;
  freshen(): Promise<void>;
}

/** What holds until a token expires. What depends on the request (client certificate, service) or the moment is checked on every use. */
export interface VerifiedToken {
  caller: Caller;
  /** `exp`, in seconds. */
  expiry: number;
  /** Epoch milliseconds from which the signature must be verified again, whatever the cache time; absent: at its expiry. */
  verifyAgainAt?: number;
  source: KeySource;
  keys: object;
  /** `cnf.x5t#S256`: the client certificate that the token is bound to. */
  boundTo?: string | undefined;
  fsc?: { groupId: string; service: string };
}

/** Why a token is refused, from a closed list: safe as a log line and a metric label. */
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

/** The answer to the caller. `unavailable`: the issuer's keys were never fetched, which is not the caller's fault. */
type TokenErrorCode = 'missing' | 'invalid' | 'expired' | 'wrong-group' | 'wrong-service' | 'unavailable';

const CODES: Partial<Record<TokenErrorReason, TokenErrorCode>> = {
  'no-token': 'missing',
  expired: 'expired',
  group: 'wrong-group',
  service: 'wrong-service',
  'keys-unavailable': 'unavailable',
};

export class TokenError extends Error {
  override readonly name = 'TokenError';
  readonly reason: TokenErrorReason;
  readonly code: TokenErrorCode;

  constructor(reason: TokenErrorReason, options?: ErrorOptions) {
    const code = CODES[reason] ?? 'invalid';
    super(`access token refused (${code}): ${reason}`, options);
    this.reason = reason;
    this.code = code;
  }
}
