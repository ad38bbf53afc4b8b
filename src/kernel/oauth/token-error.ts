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
