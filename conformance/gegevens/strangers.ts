/**
 * Untrusted certificates, made for a run with the names of trusted ones.
 * @see RFC 5280 section 6
 */
import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { authorityExtensions, mintCertificate, partyExtensions } from '../../src/lib/authority/certificates.ts';
import { parseCertificate } from '../../src/lib/jades/certificate.ts';
import type { Identity } from './signed-request.ts';

export interface Strangers {
  /** A separate chain with valid signatures and the real names. */
  readonly ownRoot: Identity;
  /** A leaf that claims to be issued by the real authority. */
  readonly forged: Identity;
  /** A leaf issued by the real leaf, as if that were an authority. */
  readonly belowLeaf: Identity;
}

/** @param real the real signer */
export function makeStrangers(real: Identity): Strangers {
  const { privateKey: key } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const [leaf = '', issuer = leaf] = real.x5c;
  const nameOf = (der: string) => parseCertificate(Buffer.from(der, 'base64')).pki.subject;
  const [leafName, issuerName] = [nameOf(leaf), nameOf(issuer)];
  const mint = (
    subject: typeof leafName,
    name: typeof leafName,
    signer: KeyObject,
    extensions = partyExtensions(),
  ): string =>
    mintCertificate({
      subject,
      key,
      issuer: { name, key: signer },
      from: new Date(),
      days: 1,
      extensions,
    }).raw.toString('base64');
  const below = mint(leafName, issuerName, key);
  return {
    ownRoot: { key, x5c: [below, mint(issuerName, issuerName, key, authorityExtensions())] },
    forged: { key, x5c: [below, ...real.x5c.slice(1)] },
    belowLeaf: { key, x5c: [mint(leafName, leafName, real.key), ...real.x5c] },
  };
}
