// Reading a JWT claims set without trusting its types. @see RFC 7519 section 4.1
import { isRecord } from '../is-record.ts';
import { TokenError } from './token-error.ts';

/** Clocks of issuer and service may differ by this much (seconds). */
export const leewaySeconds = 30;

/** The last moment that a Date can hold, in seconds. */
const lastSecond = 8.64e12;

/** A claims set whose types are not yet known. */
export type Claims = Readonly<Record<string, unknown>>;

/** The claims in the payload of a JWS whose signature was verified. */
export function readClaims(payload: Uint8Array): Claims {
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(payload));
  } catch (cause) {
    throw new TokenError('invalid', 'claims-malformed', { cause });
  }
  if (!isRecord(value)) throw new TokenError('invalid', 'claims-malformed');
  return value;
}

/** A claim that may be absent, and is text otherwise. */
export function optionalText(claims: Claims, name: string): string | undefined {
  const value = claims[name];
  if (value === undefined) return undefined;
  if (typeof value !== 'string' || value === '') throw new TokenError('invalid', 'claims-malformed');
  return value;
}

/** A list of texts that may be written as one text (`aud`, `scope`). */
export function textList(claims: Claims, name: string): string[] {
  const value = claims[name];
  if (value === undefined) return [];
  const list: unknown[] = Array.isArray(value) ? value : [value];
  const texts = list.filter((item) => typeof item === 'string');
  if (texts.length !== list.length) throw new TokenError('invalid', 'claims-malformed');
  return texts;
}

/** Issuer and audience, both required. `aud` may name several; one of them must be ours. */
export function checkParties(claims: Claims, issuer: string, isOurs: (audience: string) => boolean): void {
  if (claims.iss !== issuer) throw new TokenError('invalid', 'issuer');
  if (!textList(claims, 'aud').some(isOurs)) throw new TokenError('invalid', 'audience');
}

/** `exp` (required, seconds) after `nbf` (optional) was checked. Whether it has passed is judged on every use. */
export function readExpiry(claims: Claims, now: Date): number {
  const notBefore = claims.nbf;
  if (notBefore !== undefined) {
    if (!isNumericDate(notBefore)) throw new TokenError('invalid', 'claims-malformed');
    if (now.getTime() / 1000 < notBefore - leewaySeconds) throw new TokenError('invalid', 'not-yet-valid');
  }
  const expiry = claims.exp;
  if (!isNumericDate(expiry)) throw new TokenError('invalid', 'claims-malformed');
  return expiry;
}

/** The thumbprint in `cnf.x5t#S256`; undefined without `cnf`. Any other confirmation method is refused. */
export function confirmationThumbprint(claims: Claims): string | undefined {
  const confirmation = claims.cnf;
  if (confirmation === undefined) return undefined;
  if (!isRecord(confirmation)) throw new TokenError('invalid', 'claims-malformed');
  const thumbprint = optionalText(confirmation, 'x5t#S256');
  // A key-bound token (DPoP, RFC 9449) must not pass as a bearer token.
  if (thumbprint === undefined) throw new TokenError('invalid', 'not-bound');
  return thumbprint;
}

/** `act.sub` (RFC 8693 section 4.1): who acts for the subject. */
export function actorOf(claims: Claims): string | undefined {
  const actor = claims.act;
  if (actor === undefined) return undefined;
  const subject = isRecord(actor) ? optionalText(actor, 'sub') : undefined;
  if (subject === undefined) throw new TokenError('invalid', 'claims-malformed');
  return subject;
}

function isNumericDate(value: unknown): value is number {
  return typeof value === 'number' && value >= 0 && value <= lastSecond;
}
