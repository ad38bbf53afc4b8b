/**
 * Untrusted certificates, made for a run with the names of trusted ones.
 * @see RFC 5280 section 6
 */
import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { authorityExtensions, mintCertificate, partyExtensions } from '../../src/lib/authority/certificates.ts';
import { parseCertificate } from '../../src/lib/jades/certificate.ts';
import type { Identity } from './signed-request.ts';

export function makeStrangers(real: Identity) {
  const { privateKey: key } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const [leaf = '', issuer = leaf] = real.x5c;
  const nameOf = (der: string) => parseCertificate(Buffer.from(der, 'base64')).pki.subject;
  const [leafName, issuerName] = [nameOf(leaf), nameOf(issuer)];
  type Name = typeof leafName;
  const mint = (subject: Name, name: Name, signer: KeyObject, extensions = partyExtensions()): string => {
    const issuer = { name, key: signer };
    return mintCertificate({ subject, key, issuer, from: new Date(), days: 1, extensions }).raw.toString('base64');
  };
  const below = mint(leafName, issuerName, key);
  const identity = (...x5c: readonly string[]): Identity => ({ key, x5c });
  return {
    /** A separate chain with valid signatures and the real names. */
    ownRoot: identity(below, mint(issuerName, issuerName, key, authorityExtensions())),
    /** A leaf that claims to be issued by the real authority. */
    forged: identity(below, ...real.x5c.slice(1)),
    /** A leaf issued by the real leaf, as if that were an authority. */
    belowLeaf: identity(mint(leafName, leafName, real.key), ...real.x5c),
  };
}
