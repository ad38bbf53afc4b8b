// JWT access tokens of an OAuth 2.0 authorization server. @see RFC 9068 section 4, RFC 8725
import { compactVerify } from 'jose';
import type { VerifiedToken } from './caller.ts';
import {
  actorOf,
  type Claims,
  checkParties,
  confirmationThumbprint,
  optionalText,
  readClaims,
  readExpiry,
  textList,
} from './claims.ts';
import type { KeySet } from './key-set.ts';
import { TokenError } from './token-error.ts';
import type { ProtectedHeader } from './token-in-request.ts';

const algorithms = ['RS256', 'PS256', 'ES256'];

/**
 * RFC 9068 asks for `at+jwt`. Widely used servers write `JWT` or nothing, so these pass too: what keeps an ID token out
 * is its audience, the client. Every other type (a logout token, a DPoP proof) is refused.
 */
const types: ReadonlySet<string | undefined> = new Set(['at+jwt', 'application/at+jwt', 'jwt', undefined]);

/** How OAuth tokens are recognised. */
export type OAuthOptions = {
  issuer: string;
  audience: string;
  jwksUrl?: string | undefined;
  /** Claim with the OIN of the client. */
  oinClaim?: string | undefined;
  /** OINs by client, for tokens without that claim. */
  clientOins?: ReadonlyMap<string, string> | undefined;
};

const OIN = /^\d{20}$/;

/** Verifies what does not change during the life of an OAuth token. */
export async function verifyOAuth(
  token: string,
  hash: string,
  header: ProtectedHeader,
  now: Date,
  expected: OAuthOptions & { keys: KeySet },
): Promise<VerifiedToken> {
  if (!algorithms.includes(header.alg)) throw new TokenError('invalid', 'algorithm');
  if (!types.has(header.typ?.toLowerCase())) throw new TokenError('invalid', 'type');
  const found = await expected.keys.find({ ...(header.kid === undefined ? {} : { kid: header.kid }), alg: header.alg });
  const verified = await compactVerify(token, found.key, { algorithms }).catch((cause) => {
    throw new TokenError('invalid', 'signature', { cause });
  });
  const claims = readClaims(verified.payload);
  checkParties(claims, expected.issuer, (audience) => audience === expected.audience);
  const expiry = readExpiry(claims, now);
  const clientId = optionalText(claims, 'client_id') ?? optionalText(claims, 'azp');
  const subject = optionalText(claims, 'sub') ?? clientId;
  if (subject === undefined) throw new TokenError('invalid', 'claims-malformed');
  const actor = actorOf(claims);
  const boundTo = confirmationThumbprint(claims);
  const clientOin = oinOf(claims, clientId ?? subject, expected);
  return {
    caller: {
      kind: 'oauth',
      subject,
      ...(clientId === undefined ? {} : { clientId }),
      ...(clientOin === undefined ? {} : { oin: clientOin }),
      ...(actor === undefined ? {} : { actor }),
      scopes: scopesOf(claims),
      expiresAt: new Date(expiry * 1000),
      tokenHash: hash,
    },
    expiry,
    keys: expected.keys,
    key: found.set,
    ...(boundTo === undefined ? {} : { boundTo }),
  };
}

/** The OIN of a client: what its token says, else what is configured. A claim that holds no OIN is not made up for. */
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
