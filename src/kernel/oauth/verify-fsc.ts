// Access tokens of Federated Service Connectivity, signed by the own Manager. @see FSC Core 1.1, "Access Token"
import { compactVerify } from 'jose';
import { actorOf, checkParties, confirmationThumbprint, optionalText, readClaims, readExpiry } from './claims.ts';
import { readFscCertificates } from './fsc-certificates.ts';
import type { ProtectedHeader } from './protected-header.ts';
import { TokenError } from './token-error.ts';
import type { VerifiedToken } from './verified-token.ts';

/** How FSC tokens are recognised. `certificates`: PEM bundle; `audience`: the Inway's address; `peerId`: our own. */
export type FscOptions = { certificates: string; groupId: string; audience: string; peerId: string };

/** FSC tokens carry no scope: holding one for the service is the right to read. */
const scopes: ReadonlySet<string> = new Set(['read']);

const oin = /^\d{20}$/;

export type FscVerifier = {
  /** Verifies what does not change during the life of an FSC token. */
  verify(token: string, hash: string, header: ProtectedHeader, now: Date): Promise<VerifiedToken>;
  /** The end of the certificate that is valid longest. */
  validUntil: Date;
};

/** @throws {Error} when the certificates cannot be used */
export function createFscVerifier(options: FscOptions): FscVerifier {
  const certificates = readFscCertificates(options.certificates);
  const validUntil = new Date(Math.max(...[...certificates.values()].map(({ validTo }) => validTo)));
  async function verify(token: string, hash: string, header: ProtectedHeader, now: Date): Promise<VerifiedToken> {
    const certificate = certificates.get(header.certificateThumbprint ?? '');
    if (certificate === undefined) throw new TokenError('invalid', 'unknown-key');
    if (!certificate.algorithms.includes(header.alg)) throw new TokenError('invalid', 'algorithm');
    const verified = await compactVerify(token, certificate.key, { algorithms: [header.alg] }).catch((cause) => {
      throw new TokenError('invalid', 'signature', { cause });
    });
    if (now.getTime() < certificate.validFrom || now.getTime() > certificate.validTo) {
      throw new TokenError('invalid', 'certificate-not-valid');
    }
    const claims = readClaims(verified.payload);
    checkParties(claims, options.peerId, options.audience);
    const expiry = readExpiry(claims, now);
    const subject = optionalText(claims, 'sub');
    const groupId = optionalText(claims, 'gid');
    const service = optionalText(claims, 'svc');
    const actor = actorOf(claims);
    const boundTo = confirmationThumbprint(claims);
    if (subject === undefined || !oin.test(subject)) throw new TokenError('invalid', 'claims-malformed');
    if (actor !== undefined && !oin.test(actor)) throw new TokenError('invalid', 'claims-malformed');
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
      cacheUntil: Math.min(expiry * 1000, certificate.validTo),
      ...(boundTo === undefined ? {} : { boundTo }),
      fsc: { groupId, service },
    };
  }
  return { verify, validUntil };
}
