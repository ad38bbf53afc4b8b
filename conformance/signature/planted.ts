/** Faults planted in signed messages that must be refused, requests and answers alike. */
import type { Written } from '../case.ts';
import { rfc } from '../clause.ts';
import { signing } from '../gegevens/sources.ts';

export const PLANTED = {
  otherDigest: {
    must: signing('SHA-256 digest of the payload'),
    nl: 'Een `Digest` die niet bij de body hoort, wordt geweigerd',
    en: 'A `Digest` that does not match the body is refused',
  },
  changedSignature: {
    must: rfc(7515, '5.2', 'If any of these steps fail, the signature or MAC cannot be validated'),
    nl: 'Een gewijzigde handtekening wordt geweigerd',
    en: 'A modified signature is refused',
  },
  algorithmNone: {
    must: rfc(8725, '3.1', 'MUST NOT use any other algorithms when performing cryptographic operations'),
    nl: '`alg: none` wordt geweigerd',
    en: '`alg: none` is refused',
  },
  publicKeyAsSecret: {
    must: rfc(8725, '3.1', 'MUST NOT use any other algorithms when performing cryptographic operations'),
    nl: 'HS256 met de openbare sleutel als geheim wordt geweigerd',
    en: 'HS256 with the public key as its secret is refused',
  },
  rs256: {
    must: signing('`alg` = `PS256`'),
    nl: 'RS256 wordt geweigerd',
    en: 'RS256 is refused',
  },
  revoked: {
    must: signing('revocation check by OCSP or CRL'),
    nl: 'Een ingetrokken certificaat wordt geweigerd',
    en: 'A revoked certificate is refused',
  },
  expired: {
    must: signing('validity period checked'),
    nl: 'Een verlopen certificaat wordt geweigerd',
    en: 'An expired certificate is refused',
  },
  unknownCritical: {
    must: rfc(7515, '4.1.11', 'not understood and supported by the recipient, then the JWS is invalid'),
    nl: 'Een onbekende naam in `crit` wordt geweigerd',
    en: 'An unknown name in `crit` is refused',
  },
} satisfies Readonly<Record<string, Written>>;
