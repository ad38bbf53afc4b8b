/** The rules for the certificates of a signed message. */
import type { Certificate, JadesErrorCode } from '../../src/lib/jades/certificate.ts';
import { keyFault, validatePath } from '../../src/lib/jades/chain.ts';
import { rfc } from '../clause.ts';
import { identification, signing } from '../gegevens/sources.ts';
import type { SignedMessage, Trust } from './message.ts';
import { Absent, certificatesOf, refusal, rule } from './rule.ts';

const pathOf = (message: SignedMessage, { anchors, at }: Trust): readonly Certificate[] =>
  validatePath(certificatesOf(message), { anchors, requiredPolicies: [], at });

function revocation(message: SignedMessage, trust: Trust, code: JadesErrorCode): Promise<string | undefined> {
  const { checkRevocation } = trust;
  if (checkRevocation === undefined)
    throw new Absent('revocation is not looked up: neither --online nor --crl was given');
  return refusal(() => checkRevocation(pathOf(message, trust)), code);
}

export const CERTIFICATE_RULES = {
  anchor: rule(
    ['De keten leidt naar een vertrouwd stamcertificaat', 'The chain leads to a trusted root certificate'],
    'must',
    signing('Chain validated up to the government PKI root'),
    ['holds'],
    (message, trust) => refusal(() => pathOf(message, trust), 'certificate-untrusted'),
  ),
  validity: rule(
    ['Alle certificaten zijn geldig', 'All certificates are valid'],
    'must',
    signing('validity period checked'),
    ['anchor'],
    (message, trust) => refusal(() => pathOf(message, trust), 'certificate-expired'),
  ),
  usage: rule(
    ['Het eerste certificaat mag ondertekenen', 'The first certificate may sign'],
    'must',
    rfc(
      5280,
      '4.2.1.3',
      'The digitalSignature bit is asserted when the subject public key is used for verifying digital signatures',
    ),
    ['anchor'],
    (message, trust) => refusal(() => pathOf(message, trust), 'certificate-usage'),
  ),
  strength: rule(
    ['De sleutel is een RSA-sleutel van ten minste 2048 bits', 'The key is an RSA key of at least 2048 bits'],
    'must',
    rfc(7518, '3.5', 'A key of size 2048 bits or larger MUST be used with this algorithm'),
    ['x5c'],
    (message) => {
      const key = certificatesOf(message)[0]?.x509.publicKey;
      return key === undefined ? 'there is no key' : keyFault(key);
    },
  ),
  oin: rule(
    [
      'Het certificaat noemt het OIN of het handelsregisternummer van wie ondertekent',
      'The certificate names the OIN or the trade register number of the signer',
    ],
    'should',
    identification('Dit (sub)OIN wordt bij PKIo certificaten geplaatst in het SerialNumber veld van het Subject'),
    ['x5c'],
    (message) => {
      const subject = certificatesOf(message)[0]?.x509.subject ?? '';
      return /^serialNumber=(\d{20}|\d{8})$/m.test(subject)
        ? undefined
        : 'its subject has no serialNumber of 20 or 8 digits';
    },
  ),
  revoked: rule(
    ['Geen certificaat is ingetrokken', 'No certificate was revoked'],
    'must',
    signing('revocation check by OCSP or CRL'),
    ['validity', 'usage'],
    (message, trust) => revocation(message, trust, 'certificate-revoked'),
  ),
  status: rule(
    [
      'Van elk certificaat is na te gaan of het is ingetrokken',
      'Of each certificate it can be found out whether it was revoked',
    ],
    'should',
    signing('revocation check by OCSP or CRL'),
    ['validity', 'usage'],
    (message, trust) => revocation(message, trust, 'revocation-unknown'),
  ),
};
