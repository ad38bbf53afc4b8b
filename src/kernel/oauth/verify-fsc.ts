// Access tokens of Federated Service Connectivity, signed by the own Manager. @see FSC Core 1.1, "Access Token"
import { compactVerify } from 'jose';
import type { VerifiedToken } from './caller.ts';
import { actorOf, checkParties, confirmationThumbprint, optionalText, readClaims, readExpiry } from './claims.ts';
import type { FscKeys } from './fsc-keys.ts';
import { TokenError } from './token-error.ts';
import type { ProtectedHeader } from './token-in-request.ts';

/** How FSC tokens are recognised. `audiences`: the addresses of the own Inways; `peerId`: our own. */
export type FscOptions = {
  /** Path of a PEM bundle, or http(s) address of the Manager's JSON Web Key Set. */
  certificates: string;
  groupId: string;
  audiences: readonly string[];
  peerId: string;
};

/** FSC tokens carry no scope: holding one for the service is the right to read. */
const scopes: ReadonlySet<string> = new Set(['read']);


/** Verifies what does not change during the life of an FSC token. */
export async function verifyFsc(
  token: string,
  hash: string,
  header: ProtectedHeader,
  now: Date,
  expected: { audiences: readonly string[]; peerId: string; keys: FscKeys },
): Promise<VerifiedToken> {
  const thumbprint = header.certificateThumbprint ?? '';
  const certificate = await expected.keys.find(thumbprint);
  if (certificate === undefined) throw new TokenError('invalid', 'unknown-key');
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
  const boundTo = confirmationThumbprint(claims);
  if (subject === undefined || !OIN.test(subject)) throw new TokenError('invalid', 'claims-malformed');
  if (actor !== undefined && !OIN.test(actor)) throw new TokenError('invalid', 'claims-malformed');
  if (groupId === undefined || service === undefined) throw new TokenError('invalid', 'claims-malformed');
  return {
    caller: {
      kind: 'fsc',
      subject,
      peerId: subject,
      oin: subject,
      ...(actor === undefined ? {} : { actor }),
      scopes,
      expiresAt: new Date(expiry * 1000),
      tokenHash: hash,
    },
    expiry,
    verifyAgainAt: certificate.validTo,
    keys: expected.keys,
    key: thumbprint,
    ...(boundTo === undefined ? {} : { boundTo }),
    fsc: { groupId, service },
  };
}

/** Managers differ in whether the address of an Inway ends in a slash. */
function withoutSlash(audience: string): string {
  return audience.endsWith('/') ? audience.slice(0, -1) : audience;
}
