/** Verifies access tokens of an OAuth 2.0 authorization server and of the own FSC Manager. */
import { type CompactVerifyResult, type CryptoKey, compactVerify, errors } from 'jose';
import { isRecord } from '../../lib/json/json-value.ts';
import type { FscKeys } from './fsc-keys.ts';
import type { IssuerKeys } from './remote-keys.ts';
import { type ProtectedHeader, TokenError, type VerifiedToken } from './token.ts';

const algorithms = ['RS256', 'PS256', 'ES256'];

/**
 * RFC 9068 requires `at+jwt`, but widely used servers write `JWT` or nothing, so these are accepted too; an ID token is refused by its
 * audience, which is the client. Every other type (a logout token, a DPoP proof) is refused.
 */
const types: ReadonlySet<string | undefined> = new Set(['at+jwt', 'application/at+jwt', 'jwt', undefined]);

/** How OAuth tokens are recognised. */
export interface OAuthOptions {
  issuer: string;
  audience: string;
  jwksUrl?: string | undefined;
  /** Claim with the OIN of the client. */
  oinClaim?: string | undefined;
  /** OINs by client, for tokens without that claim. */
  clientOins?: ReadonlyMap<string, string> | undefined;
}

const OIN = /^\d{20}$/;

/** Verifies what does not change during the life of an OAuth token. @see RFC 9068 section 4, RFC 8725 */
export async function verifyOAuth(
  token: string,
  hash: string,
  header: ProtectedHeader,
  now: Date,
  expected: OAuthOptions & { keys: IssuerKeys },
): Promise<VerifiedToken> {
  if (!algorithms.includes(header.alg)) throw new TokenError('invalid', 'algorithm');
  if (!types.has(header.typ?.toLowerCase())) throw new TokenError('invalid', 'type');
  const { found, keys } = await expected.keys.find(header);
  const verified = await verifyWithOne(token, found);
  const claims = readClaims(verified.payload);
  checkParties(claims, expected.issuer, (audience) => audience === expected.audience);
  const expiry = readExpiry(claims, now);
  const clientId = optionalText(claims, 'client_id') ?? optionalText(claims, 'azp');
  const subject = optionalText(claims, 'sub') ?? clientId;
  if (subject === undefined) throw new TokenError('invalid', 'claims-malformed');
  return {
    caller: {
      kind: 'oauth',
      subject,
      clientId,
      oin: oinOf(claims, clientId ?? subject, expected),
      actor: actorOf(claims),
      scopes: scopesOf(claims),
      tokenHash: hash,
    },
    expiry,
    source: expected.keys,
    keys,
    boundTo: confirmationThumbprint(claims),
  };
}

async function verifyWithOne(token: string, [key, ...others]: readonly CryptoKey[]): Promise<CompactVerifyResult> {
  if (key === undefined) throw new TokenError('invalid', 'unknown-key');
  try {
    return await compactVerify(token, key, { algorithms });
  } catch (cause) {
    if (others.length > 0 && cause instanceof errors.JWSSignatureVerificationFailed)
      return verifyWithOne(token, others);
    throw new TokenError('invalid', 'signature', { cause });
  }
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

/** How FSC tokens are recognised. `audiences`: the addresses of the own Inways; `peerId`: our own. */
export interface FscOptions {
  /** Path of a PEM bundle, or http(s) address of the Manager's JSON Web Key Set. */
  certificates: string;
  groupId: string;
  audiences: readonly string[];
  peerId: string;
}

/** FSC tokens carry no scope: a token for the service is the right to read. */
const scopes: ReadonlySet<string> = new Set(['read']);

/** Verifies what does not change during the life of an FSC token, signed by the own Manager. @see FSC Core 1.1 and 2.0, "Access token"; claims that it does not name, as `prp`, are ignored */
export async function verifyFsc(
  token: string,
  hash: string,
  header: ProtectedHeader,
  now: Date,
  expected: { audiences: readonly string[]; peerId: string; keys: FscKeys },
): Promise<VerifiedToken> {
  const { found: certificate, keys } = await expected.keys.find(header.certificateThumbprint ?? '');
  if (!certificate.algorithms.includes(header.alg)) throw new TokenError('invalid', 'algorithm');
  const verified = await compactVerify(token, certificate.key, { algorithms: [header.alg] }).catch((cause) => {
    throw new TokenError('invalid', 'signature', { cause });
  });
  if (now.getTime() < certificate.validFrom || now.getTime() > certificate.validTo) {
    throw new TokenError('invalid', 'certificate-not-valid');
  }
  const claims = readClaims(verified.payload);
  const ours = new Set(expected.audiences.map(withoutSlash));
  checkParties(claims, expected.peerId, (audience) => ours.has(withoutSlash(audience)));
  const expiry = readExpiry(claims, now);
  const subject = optionalText(claims, 'sub');
  const groupId = optionalText(claims, 'gid');
  const service = optionalText(claims, 'svc');
  const actor = actorOf(claims);
  const publishedFor = optionalText(claims, 'pdi');
  if (subject === undefined || !OIN.test(subject)) throw new TokenError('invalid', 'claims-malformed');
  if ([actor, publishedFor].some((peer) => peer !== undefined && !OIN.test(peer)))
    throw new TokenError('invalid', 'claims-malformed');
  if (groupId === undefined || service === undefined) throw new TokenError('invalid', 'claims-malformed');
  return {
    caller: {
      kind: 'fsc',
      subject,
      oin: subject,
      actor,
      publishedFor,
      scopes,
      tokenHash: hash,
    },
    expiry,
    verifyAgainAt: certificate.validTo,
    source: expected.keys,
    keys,
    boundTo: confirmationThumbprint(claims),
    fsc: { groupId, service },
  };
}

/** Managers differ in whether the address of an Inway ends in a slash. */
function withoutSlash(audience: string): string {
  return audience.endsWith('/') ? audience.slice(0, -1) : audience;
}

/** Clocks of issuer and service may differ by this much (seconds). */
export const leewaySeconds = 30;

/** The last moment that a Date can represent, in seconds. */
const lastSecond = 8.64e12;

/** A claims set of unknown types. @see RFC 7519 section 4.1 */
type Claims = Readonly<Record<string, unknown>>;

/** The claims in the payload of a JWS whose signature was verified. */
function readClaims(payload: Uint8Array): Claims {
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
function optionalText(claims: Claims, name: string): string | undefined {
  const value = claims[name];
  if (value === undefined) return undefined;
  if (typeof value !== 'string' || value === '') throw new TokenError('invalid', 'claims-malformed');
  return value;
}

/** A list of texts that may be written as one text (`aud`, `scope`). */
function textList(claims: Claims, name: string): string[] {
  const value = claims[name];
  if (value === undefined) return [];
  const list: unknown[] = Array.isArray(value) ? value : [value];
  const texts = list.filter((item) => typeof item === 'string');
  if (texts.length !== list.length) throw new TokenError('invalid', 'claims-malformed');
  return texts;
}

/** Issuer and audience, both required. `aud` may name several; one of them must be ours. */
function checkParties(claims: Claims, issuer: string, isOurs: (audience: string) => boolean): void {
  if (claims.iss !== issuer) throw new TokenError('invalid', 'issuer');
  if (!textList(claims, 'aud').some(isOurs)) throw new TokenError('invalid', 'audience');
}

/** `exp` (required, seconds) after `nbf` (optional) was checked. Whether it has passed is checked on every use. */
function readExpiry(claims: Claims, now: Date): number {
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
function confirmationThumbprint(claims: Claims): string | undefined {
  const confirmation = claims.cnf;
  if (confirmation === undefined) return undefined;
  if (!isRecord(confirmation)) throw new TokenError('invalid', 'claims-malformed');
  const thumbprint = optionalText(confirmation, 'x5t#S256');
  // A key-bound token (DPoP, RFC 9449) must not pass as a bearer token.
  if (thumbprint === undefined) throw new TokenError('invalid', 'not-bound');
  return thumbprint;
}

/** `act.sub` (RFC 8693 section 4.1): who acts for the subject. */
function actorOf(claims: Claims): string | undefined {
  const actor = claims.act;
  if (actor === undefined) return undefined;
  const subject = isRecord(actor) ? optionalText(actor, 'sub') : undefined;
  if (subject === undefined) throw new TokenError('invalid', 'claims-malformed');
  return subject;
}

function isNumericDate(value: unknown): value is number {
  return typeof value === 'number' && value >= 0 && value <= lastSecond;
}
