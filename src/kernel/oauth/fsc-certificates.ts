import { hash, type KeyObject, X509Certificate } from 'node:crypto';

/** A certificate whose key may sign FSC access tokens. Times are epoch milliseconds. */
export type FscCertificate = { key: KeyObject; algorithms: readonly string[]; validFrom: number; validTo: number };

const block = /-----BEGIN CERTIFICATE-----[\s\S]*?-----END CERTIFICATE-----/g;

const curveAlgorithms: Readonly<Record<string, string>> = {
  prime256v1: 'ES256',
  secp384r1: 'ES384',
  secp521r1: 'ES512',
};

/**
 * The signing certificates of the own Manager, by thumbprint (SHA-256, base64url: `x5t#S256`).
 *
 * @param pem one or more certificates
 * @throws {Error} without a certificate, with an unreadable one, or with a key that no allowed algorithm can use
 */
export function readFscCertificates(pem: string): ReadonlyMap<string, FscCertificate> {
  const blocks = pem.match(block) ?? [];
  if (blocks.length === 0) throw new Error('the FSC token certificates hold no PEM certificate');
  return new Map(blocks.map(readCertificate));
}

function readCertificate(pem: string, index: number): [string, FscCertificate] {
  let certificate: X509Certificate;
  try {
    certificate = new X509Certificate(pem);
  } catch (cause) {
    throw new Error(`FSC token certificate ${index + 1} cannot be read`, { cause });
  }
  const key = certificate.publicKey;
  const algorithms = algorithmsOf(key);
  if (algorithms.length === 0) {
    throw new Error(
      `FSC token certificate ${index + 1} has neither an RSA key of 2048 bits or more nor an EC key of P-256, P-384 or P-521`,
    );
  }
  const validFrom = certificate.validFromDate.getTime();
  return [
    hash('sha256', certificate.raw, 'base64url'),
    { key, algorithms, validFrom, validTo: certificate.validToDate.getTime() },
  ];
}

/** The algorithm follows from the key, so that a token cannot choose another one. */
function algorithmsOf(key: KeyObject): readonly string[] {
  if (key.asymmetricKeyType === 'rsa') {
    return (key.asymmetricKeyDetails?.modulusLength ?? 0) >= 2048 ? ['RS256', 'RS384', 'RS512'] : [];
  }
  const algorithm =
    key.asymmetricKeyType === 'ec' ? curveAlgorithms[key.asymmetricKeyDetails?.namedCurve ?? ''] : undefined;
  return algorithm === undefined ? [] : [algorithm];
}
