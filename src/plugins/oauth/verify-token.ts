import { hash, type KeyObject } from 'node:crypto';
import { type CryptoKey, errors, type JWTPayload, type JWTVerifyOptions, jwtVerify } from 'jose';
import { isRecord } from '../../lib/json/json-value.ts';
import { OIN } from '../../lib/patterns.ts';
import type { FscKeys } from './fsc-keys.ts';
import type { IssuerKeys } from './remote-keys.ts';
import { type ProtectedHeader, TokenError, type VerifiedToken } from './token.ts';

const algorithms = ['RS256', 'PS256', 'ES256'];

/** RFC 9068 requires `at+jwt`; widely used servers write `JWT` or nothing. This refuses a logout token or a DPoP proof; its audience an ID token. */
const types: ReadonlySet<string | undefined> = new Set(['at+jwt', 'application/at+jwt', 'jwt', undefined]);

export interface OAuthOptions {
  issuer: string;
  audience: string;
  jwksUrl?: string | undefined;
  oinClaim?: string | undefined;
  /** OINs by client, for tokens without that claim. */
  clientOins?: ReadonlyMap<string, string> | undefined;
}

/** Verifies the part of an OAuth token that does not change during its life. @see RFC 9068 section 4, RFC 8725 */
export async function verifyOAuth(
  token: string,
  header: ProtectedHeader,
  now: Date,
  expected: OAuthOptions & { keys: IssuerKeys },
): Promise<VerifiedToken> {
  if (!algorithms.includes(header.alg)) throw new TokenError('algorithm');
  if (!types.has(header.typ?.toLowerCase())) throw new TokenError('type');
  const { found, keys } = await expected.keys.find(header);
  const { issuer, audience } = expected;
  const claims = await readClaims(token, found, { issuer, audience, algorithms, currentDate: now });
  const clientId = optionalText(claims, 'client_id') ?? optionalText(claims, 'azp');
  const subject = optionalText(claims, 'sub') ?? clientId;
  if (subject === undefined) throw new TokenError('claims-malformed');
  return {
    caller: {
      kind: 'oauth',
      subject,
      clientId,
      oin: oinOf(claims, clientId ?? subject, expected),
      actor: actorOf(claims),
      scopes: scopesOf(claims),
      tokenHash: hashOf(token),
    },
    expiry: claims.exp,
    source: expected.keys,
    keys,
    boundTo: confirmationThumbprint(claims),
  };
}

/** The OIN of a client: from its token, else from the configuration. A claim without a valid OIN gives none. */
function oinOf(claims: Claims, client: string, { oinClaim, clientOins }: OAuthOptions): string | undefined {
  const claimed = oinClaim === undefined ? undefined : claims[oinClaim];
  if (claimed === undefined) return clientOins?.get(client);
  return typeof claimed === 'string' && OIN.test(claimed) ? claimed : undefined;
}

/** RFC 9068 section 2.2.3 has `scope` as one text; some servers write a list, or call it `scp`. */
function scopesOf(claims: Claims): ReadonlySet<string> {
  const words = [...textList(claims, 'scope'), ...textList(claims, 'scp')].flatMap((text) => text.split(' '));
  return new Set(words.filter((word) => word !== ''));
}

/** `audiences`: the addresses of our own Inways; `peerId`: our own. */
export interface FscOptions {
  certificates: string;
  groupId: string;
  audiences: readonly string[];
  peerId: string;
}

/** FSC tokens carry no scope: a token for the service is the right to read. */
const scopes: ReadonlySet<string> = new Set(['read']);

/** The part of an FSC token that does not change during its life, signed by our own Manager. @see FSC Core 1.1 and 2.0, "Access token" */
export async function verifyFsc(
  token: string,
  header: ProtectedHeader,
  now: Date,
  expected: { audiences: readonly string[]; peerId: string; keys: FscKeys },
): Promise<VerifiedToken> {
  const { found: certificate, keys } = await expected.keys.find(header.certificateThumbprint ?? '');
  if (!certificate.algorithms.includes(header.alg)) throw new TokenError('algorithm');
  const claims = await readClaims(token, [certificate.key], {
    issuer: expected.peerId,
    audience: expected.audiences.map((one) => one.replace(/\/$/, '')).flatMap((one) => [one, `${one}/`]),
    algorithms: [header.alg],
    currentDate: now,
  });
  if (now.getTime() < certificate.validFrom || now.getTime() > certificate.validTo) {
    throw new TokenError('certificate-not-valid');
  }
  const subject = optionalText(claims, 'sub');
  const groupId = optionalText(claims, 'gid');
  const service = optionalText(claims, 'svc');
  const actor = actorOf(claims);
  const publishedFor = optionalText(claims, 'pdi');
  const isNamed = subject !== undefined && groupId !== undefined && service !== undefined;
  if (!isNamed || [subject, actor, publishedFor].some((peer) => peer !== undefined && !OIN.test(peer)))
    throw new TokenError('claims-malformed');
  return {
    caller: { kind: 'fsc', subject, oin: subject, actor, publishedFor, scopes, tokenHash: hashOf(token) },
    expiry: claims.exp,
    verifyAgainAt: certificate.validTo,
    source: expected.keys,
    keys,
    boundTo: confirmationThumbprint(claims),
    fsc: { groupId, service },
  };
}

function hashOf(token: string): string {
  return hash('sha256', token, 'base64url');
}

/** Clocks of issuer and service may differ by this much (seconds). */
export const leewaySeconds = 30;

type Claims = Readonly<Record<string, unknown>>;

/** The claims of a token with a valid signature (by one of the keys), issuer, audience and times. @throws {TokenError} */
async function readClaims(
  token: string,
  [key, ...others]: readonly (CryptoKey | KeyObject)[],
  expected: JWTVerifyOptions,
): Promise<Claims & { readonly exp: number }> {
  if (key === undefined) throw new TokenError('unknown-key');
  try {
    const rules = { ...expected, clockTolerance: leewaySeconds, requiredClaims: ['exp'] };
    const { payload }: { payload: JWTPayload } = await jwtVerify(token, key, rules);
    return { ...payload, exp: payload.exp ?? 0 };
  } catch (cause) {
    if (cause instanceof errors.JWSSignatureVerificationFailed && others.length > 0)
      return readClaims(token, others, expected);
    throw refusalOf(cause);
  }
}

function refusalOf(cause: unknown): TokenError {
  if (cause instanceof errors.JWTExpired) return new TokenError('expired', { cause });
  if (cause instanceof errors.JWTInvalid) return new TokenError('claims-malformed', { cause });
  if (!(cause instanceof errors.JWTClaimValidationFailed)) return new TokenError('signature', { cause });
  const { claim, reason } = cause;
  if (claim === 'iss') return new TokenError('issuer');
  if (claim === 'aud') return new TokenError('audience');
  const isEarly = claim === 'nbf' && reason === 'check_failed';
  return new TokenError(isEarly ? 'not-yet-valid' : 'claims-malformed');
}

function optionalText(claims: Claims, name: string): string | undefined {
  const value = claims[name];
  if (value === undefined) return undefined;
  if (typeof value !== 'string' || value === '') throw new TokenError('claims-malformed');
  return value;
}

/** A list of texts that may be written as one text (`aud`, `scope`). */
function textList(claims: Claims, name: string): string[] {
  const value = claims[name];
  if (value === undefined) return [];
  const list: unknown[] = Array.isArray(value) ? value : [value];
  const texts = list.filter((item) => typeof item === 'string');
  if (texts.length !== list.length) throw new TokenError('claims-malformed');
  return texts;
}

/** The thumbprint in `cnf.x5t#S256`; undefined without `cnf`. Any other confirmation method is refused. */
function confirmationThumbprint(claims: Claims): string | undefined {
  const confirmation = claims.cnf;
  if (confirmation === undefined) return undefined;
  if (!isRecord(confirmation)) throw new TokenError('claims-malformed');
  const thumbprint = optionalText(confirmation, 'x5t#S256');
  // A key-bound token (DPoP, RFC 9449) must not pass as a bearer token.
  if (thumbprint === undefined) throw new TokenError('not-bound');
  return thumbprint;
}

/** `act.sub` (RFC 8693 section 4.1): the actor for the subject. */
function actorOf(claims: Claims): string | undefined {
  const actor = claims.act;
  if (actor === undefined) return undefined;
  const subject = isRecord(actor) ? optionalText(actor, 'sub') : undefined;
  if (subject === undefined) throw new TokenError('claims-malformed');
  return subject;
}
