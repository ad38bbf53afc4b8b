import type { Certificate, JadesErrorCode } from '../../src/lib/jades/certificate.ts';
import { keyFault, validatePath } from '../../src/lib/jades/chain.ts';
import { Skipped } from '../case.ts';
import { rfc } from '../clause.ts';
import { identification, signing } from '../gegevens/sources.ts';
import type { SignedMessage, Trust } from './message.ts';
import { certificatesOf, type RuleName, refusal, type SignatureRule } from './rule.ts';

const pathOf = (message: SignedMessage, { anchors, at }: Trust): readonly Certificate[] =>
  validatePath(certificatesOf(message), { anchors, requiredPolicies: [], at });

function revocation(message: SignedMessage, trust: Trust, code: JadesErrorCode): Promise<string | undefined> {
  const { checkRevocation } = trust;
  if (checkRevocation === undefined)
    throw new Skipped('revocation is not looked up: neither --online nor --crl was given');
  return refusal(() => checkRevocation(pathOf(message, trust)), code);
}

export const CERTIFICATE_RULES = {
  anchor: {
    must: signing('Chain validated up to the government PKI root'),
    nl: 'De keten leidt naar een vertrouwd stamcertificaat',
    en: 'The chain leads to a trusted root certificate',
    needs: ['holds'],
    judge: (message, trust) => refusal(() => pathOf(message, trust), 'certificate-untrusted'),
  },
  validity: {
    must: signing('validity period checked'),
    nl: 'Alle certificaten zijn geldig',
    en: 'All certificates are valid',
    needs: ['anchor'],
    judge: (message, trust) => refusal(() => pathOf(message, trust), 'certificate-expired'),
  },
  usage: {
    must: rfc(
      5280,
      '4.2.1.3',
      'The digitalSignature bit is asserted when the subject public key is used for verifying digital signatures',
    ),
    nl: 'Het eerste certificaat mag ondertekenen',
    en: 'The first certificate may sign',
    needs: ['anchor'],
    judge: (message, trust) => refusal(() => pathOf(message, trust), 'certificate-usage'),
  },
  strength: {
    must: rfc(7518, '3.5', 'A key of size 2048 bits or larger MUST be used with this algorithm'),
    nl: 'De sleutel is een RSA-sleutel van ten minste 2048 bits',
    en: 'The key is an RSA key of at least 2048 bits',
    needs: ['x5c'],
    judge: (message) => {
      const key = certificatesOf(message)[0]?.x509.publicKey;
      return key === undefined ? 'there is no key' : keyFault(key);
    },
  },
  oin: {
    should: identification(
      'Dit (sub)OIN wordt bij PKIo certificaten geplaatst in het SerialNumber veld van het Subject',
    ),
    nl: 'Het certificaat noemt het OIN of het handelsregisternummer van wie ondertekent',
    en: 'The certificate names the OIN or the trade register number of the signer',
    needs: ['x5c'],
    judge: (message) => {
      const subject = certificatesOf(message)[0]?.x509.subject ?? '';
      if (/^serialNumber=(\d{20}|\d{8})$/m.test(subject)) return undefined;
      return 'its subject has no serialNumber of 20 or 8 digits';
    },
  },
  revoked: {
    must: signing('revocation check by OCSP or CRL'),
    nl: 'Geen certificaat is ingetrokken',
    en: 'No certificate was revoked',
    needs: ['validity', 'usage'],
    judge: (message, trust) => revocation(message, trust, 'certificate-revoked'),
  },
  status: {
    should: signing('revocation check by OCSP or CRL'),
    nl: 'De intrekkingsstatus van elk certificaat is na te gaan',
    en: 'The revocation status of every certificate can be checked',
    needs: ['validity', 'usage'],
    judge: (message, trust) => revocation(message, trust, 'revocation-unknown'),
  },
} satisfies Partial<Record<RuleName, SignatureRule>>;
