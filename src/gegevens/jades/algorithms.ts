// Which signature algorithms and keys are strong enough.
import { constants, type KeyObject } from 'node:crypto';
import { AlgorithmIdentifier, RSASSAPSSParams } from 'pkijs';

/** PS256: PSS padding with a salt as long as the hash (RFC 7518 section 3.5). */
export const ps256 = { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: 32 } as const;

const signatureAlgorithms: ReadonlySet<string> = new Set([
  '1.2.840.113549.1.1.11', // sha256WithRSAEncryption
  '1.2.840.113549.1.1.12', // sha384WithRSAEncryption
  '1.2.840.113549.1.1.13', // sha512WithRSAEncryption
  '1.2.840.10045.4.3.2', // ecdsa-with-SHA256
  '1.2.840.10045.4.3.3', // ecdsa-with-SHA384
  '1.2.840.10045.4.3.4', // ecdsa-with-SHA512
]);
const rsaPss = '1.2.840.113549.1.1.10';
const strongHashes: ReadonlySet<string> = new Set([
  '2.16.840.1.101.3.4.2.1',
  '2.16.840.1.101.3.4.2.2',
  '2.16.840.1.101.3.4.2.3',
]);
const curves: ReadonlySet<string> = new Set(['prime256v1', 'secp384r1', 'secp521r1']);

const minRsaBits = 2048;
const maxRsaBits = 8192;

/** True for RSA and ECDSA with SHA-2; SHA-1 and everything unknown is refused. */
export function isStrongSignature(algorithm: AlgorithmIdentifier): boolean {
  if (algorithm.algorithmId !== rsaPss) return signatureAlgorithms.has(algorithm.algorithmId);
  const parameters: unknown = algorithm.algorithmParams;
  if (parameters === undefined) return false; // the defaults are SHA-1
  try {
    const pss = new RSASSAPSSParams({ schema: parameters });
    return strongHashes.has(pss.hashAlgorithm.algorithmId) && mgfHash(pss) === pss.hashAlgorithm.algorithmId;
  } catch {
    return false; // parameters that cannot be read name no strong algorithm
  }
}

/** The hash inside the mask generation function; it must be the same one (RFC 4055 section 3.1). */
function mgfHash(pss: RSASSAPSSParams): string {
  const parameters: unknown = pss.maskGenAlgorithm.algorithmParams;
  return new AlgorithmIdentifier({ schema: parameters }).algorithmId;
}

export function isRsa(key: KeyObject): boolean {
  return key.asymmetricKeyType === 'rsa' || key.asymmetricKeyType === 'rsa-pss';
}

/** Says what is wrong with a public key, in Dutch; undefined when it is strong enough. */
export function keyFault(key: KeyObject): string | undefined {
  const details = key.asymmetricKeyDetails;
  if (key.asymmetricKeyType === 'ec') {
    return curves.has(details?.namedCurve ?? '') ? undefined : 'gebruikt een kromme die niet is toegestaan';
  }
  if (!isRsa(key)) return 'heeft een soort sleutel die niet is toegestaan';
  const bits = details?.modulusLength ?? 0;
  if (bits < minRsaBits) return `heeft een RSA-sleutel van ${bits} bits; ten minste ${minRsaBits} is vereist`;
  if (bits > maxRsaBits) return `heeft een RSA-sleutel van ${bits} bits; ten hoogste ${maxRsaBits} is toegestaan`;
  if ((details?.publicExponent ?? 0n) < 3n) return 'heeft een zwakke RSA-exponent';
  return undefined;
}
