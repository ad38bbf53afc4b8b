// Validates the path from the signer's certificate to a trust anchor, and caches validated paths.
// @see RFC 5280 section 6; docs/decisions/0003-path-validation.md
import { createHash, type KeyObject } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { AlgorithmIdentifier, RSASSAPSSParams } from 'pkijs';
import {
  authority,
  type Certificate,
  extensionFault,
  isSelfIssued,
  JadesError,
  keyUsage,
  OID,
  parseCertificate,
  parsePemCertificates,
  purposes,
  USAGE,
} from './certificate.ts';
import { meetsNameConstraints, meetsPolicies } from './path-constraints.ts';
import { isRsa } from './signature.ts';

interface PathCacheOptions {
  /** PEM bundle. */
  readonly anchors: string;
  readonly requiredPolicies: readonly string[];
  readonly now: () => Date;
}

/** Parses certificates, or takes them from the cache if they are there. @throws Error when one is not a certificate */
export type ReadCertificates = (ders: readonly Uint8Array[]) => readonly Certificate[];

interface ValidatedPath {
  /** As sent: the anchor may be left out. */
  readonly x5c: readonly Certificate[];
  readonly path: readonly Certificate[];
  readonly until: number;
}

/** A parsed certificate takes this many times its encoded size. */
const PARSED_FACTOR = 60;
const MAX_BYTES = 32 * 1024 * 1024;
const PATH_LIFE_MS = 5 * 60_000;

/** Keeps validated paths with their certificates for a while; nothing of a refused sender. @throws Error when the bundle holds no readable anchor */
export function createPathCache({ anchors: bundle, requiredPolicies, now }: PathCacheOptions) {
  const anchors = parsePemCertificates(bundle);
  if (anchors.length === 0) throw new Error('the bundle of trust anchors holds no certificate');
  const paths = new LRUCache<string, ValidatedPath>({
    maxSize: MAX_BYTES,
    // The sent certificates may continue beyond the anchor, with ones that anybody can make.
    sizeCalculation: ({ x5c, path }, key) =>
      [...new Set([...x5c, ...path])].reduce((sum, { der }) => sum + PARSED_FACTOR * der.length, 2 * key.length + 100),
  });
  const readCertificates: ReadCertificates = (ders) => {
    const key = ders.map((der) => createHash('sha256').update(der).digest('base64url')).join();
    return paths.get(key)?.x5c ?? ders.map(parseCertificate);
  };
  return {
    readCertificates,
    /** The validated path, leaf first and anchor last. @throws JadesError */
    find(x5c: readonly Certificate[]): readonly Certificate[] {
      const at = now();
      const key = x5c.map(({ thumbprint }) => thumbprint).join();
      const known = paths.get(key);
      if (known !== undefined && at.getTime() < known.until) {
        checkValidity(known.path, at); // it may have expired since
        return known.path;
      }
      const path = validatePath(x5c, { anchors, requiredPolicies, at });
      paths.set(key, { x5c, path, until: at.getTime() + PATH_LIFE_MS });
      return path;
    },
  };
}

interface PathOptions {
  readonly anchors: readonly Certificate[];
  readonly requiredPolicies: readonly string[];
  readonly at: Date;
}

/** The path, leaf first, from certificates as sent, with or without the anchor. @throws JadesError certificate-untrusted, -expired, -usage */
export function validatePath(x5c: readonly Certificate[], { anchors, requiredPolicies, at }: PathOptions) {
  const path = assemble(x5c, anchors);
  for (const [index, certificate] of path.entries()) {
    const isAnchor = index === path.length - 1;
    const fault = keyFault(certificate.x509.publicKey);
    if (fault !== undefined) throw untrusted(`een certificaat in het pad ${fault}`);
    checkForm(certificate);
    if (!isAnchor) checkSignatureAlgorithm(certificate);
    if (index > 0) checkAuthority(certificate, path.slice(1, index), isAnchor);
  }
  const keys = new Set(path.map(({ x509 }) => x509.publicKey.export({ type: 'spki', format: 'der' }).toString('hex')));
  if (keys.size !== path.length) throw untrusted('dezelfde sleutel komt meer dan eens voor in het certificaatpad');
  if (!meetsNameConstraints(path)) throw untrusted('een naam valt buiten de naambeperkingen van een uitgever');
  checkValidity(path, at);
  checkLeafUsage(path);
  if (!meetsPolicies(path, requiredPolicies)) throw untrusted('het pad voldoet niet aan het vereiste beleid');
  return path;
}

/** The path is what was sent, in that order. Nothing is searched, so no certificate outside it is ever used. */
function assemble(x5c: readonly Certificate[], anchors: readonly Certificate[]): Certificate[] {
  x5c.forEach((certificate, index) => {
    const issuer = x5c[index + 1];
    if (issuer !== undefined && !isIssuedBy(certificate, issuer)) {
      throw untrusted(`x5c[${index + 1}] is niet de uitgever van x5c[${index}]`);
    }
  });
  const anchorAt = x5c.findIndex((certificate) => anchors.some((anchor) => anchor.der.equals(certificate.der)));
  if (anchorAt === 0) throw untrusted('het certificaat van de ondertekenaar is zelf een vertrouwd stamcertificaat');
  if (anchorAt > 0) return x5c.slice(0, anchorAt + 1);
  const last = x5c.at(-1);
  const anchor = last && anchors.find((candidate) => isIssuedBy(last, candidate));
  if (anchor === undefined) throw untrusted('het pad leidt niet naar een vertrouwd stamcertificaat');
  return [...x5c, anchor];
}

function isIssuedBy(certificate: Certificate, issuer: Certificate): boolean {
  if (!certificate.pki.issuer.isEqual(issuer.pki.subject)) return false;
  try {
    return certificate.x509.checkIssued(issuer.x509) && certificate.x509.verify(issuer.x509.publicKey);
  } catch {
    return false; // OpenSSL throws when key and algorithm do not match
  }
}

/** The extensions that are processed here. A certificate with another critical one is refused. */
const KNOWN_EXTENSIONS: ReadonlySet<string> = new Set([
  OID.keyUsage,
  OID.subjectAltName,
  OID.basicConstraints,
  OID.nameConstraints,
  OID.certificatePolicies,
  OID.extKeyUsage,
]);

/** Policy mappings and policy constraints are not processed; they narrow the valid policies, critical or not. */
const REFUSED_EXTENSIONS: ReadonlySet<string> = new Set([
  OID.policyMappings,
  OID.policyConstraints,
  OID.inhibitAnyPolicy,
]);

const ANY_PURPOSE = '2.5.29.37.0';
/** Extended key usages under which a message may be signed: those of PKIoverheid services and seal certificates. */
const SIGNING_PURPOSES: readonly string[] = [
  ANY_PURPOSE,
  '1.3.6.1.5.5.7.3.1', // serverAuth
  '1.3.6.1.5.5.7.3.2', // clientAuth
  '1.3.6.1.5.5.7.3.4', // emailProtection
  '1.3.6.1.5.5.7.3.36', // documentSigning
  '1.3.6.1.4.1.311.10.3.12', // documentSigning, Microsoft's older identifier
];

function untrusted(what: string): JadesError {
  return new JadesError('certificate-untrusted', `Het certificaat wordt niet vertrouwd: ${what}.`);
}

/** @throws JadesError certificate-expired, also for a certificate that is not yet valid */
function checkValidity(path: readonly Certificate[], at: Date): void {
  for (const { notBefore, notAfter } of path) {
    if (at < notBefore) throw new JadesError('certificate-expired', 'Een certificaat in het pad is nog niet geldig.');
    if (at > notAfter) throw new JadesError('certificate-expired', 'Een certificaat in het pad is verlopen.');
  }
}

export function checkForm({ pki }: Certificate): void {
  const extensions = pki.extensions ?? [];
  if (extensions.length > 0 && pki.version !== 2) throw untrusted('een certificaat met extensies is geen versie 3');
  const fault = extensionFault(extensions, KNOWN_EXTENSIONS);
  if (fault !== undefined) throw untrusted(`een certificaat bevat ${fault}`);
  if (extensions.some(({ extnID }) => REFUSED_EXTENSIONS.has(extnID)))
    throw untrusted('een certificaat beperkt of vertaalt beleid');
}

export function checkSignatureAlgorithm({ pki }: Certificate): void {
  if (!isStrongSignature(pki.signatureAlgorithm)) throw untrusted('een certificaat is met een zwak algoritme getekend');
  const inner = Buffer.from(pki.signature.toSchema().toBER());
  if (!inner.equals(Buffer.from(pki.signatureAlgorithm.toSchema().toBER()))) {
    throw untrusted('een certificaat noemt twee verschillende algoritmen');
  }
}

/** @param between the authorities between it and the signer @param isAnchor it may predate the key usage extension */
function checkAuthority(certificate: Certificate, between: readonly Certificate[], isAnchor: boolean): void {
  const { ca, pathLength } = authority(certificate);
  if (!ca) throw untrusted('een certificaat in het pad is geen uitgever');
  const bits = keyUsage(certificate);
  if (bits === undefined ? !isAnchor : (bits & USAGE.keyCertSign) === 0) {
    throw untrusted('een uitgever in het pad mag geen certificaten ondertekenen');
  }
  if (between.filter((other) => !isSelfIssued(other)).length > pathLength) {
    throw untrusted('het certificaatpad is langer dan een uitgever toestaat');
  }
}

function checkLeafUsage(path: readonly Certificate[]): void {
  const [leaf] = path;
  if (leaf === undefined) return;
  const bits = keyUsage(leaf) ?? 0;
  if ((bits & (USAGE.digitalSignature | USAGE.nonRepudiation)) === 0) {
    throw misused('het sleutelgebruik omvat digitalSignature noch nonRepudiation');
  }
  if (authority(leaf).ca || (bits & USAGE.keyCertSign) !== 0) throw misused('het is een certificaat van een uitgever');
  const limits = path.slice(0, -1).map((certificate) => purposes(certificate) ?? [ANY_PURPOSE]);
  const isAllowed = (purpose: string): boolean =>
    limits.every((named) => named.includes(purpose) || named.includes(ANY_PURPOSE));
  if (!SIGNING_PURPOSES.some(isAllowed)) {
    throw misused('het uitgebreide sleutelgebruik laat het ondertekenen van berichten niet toe');
  }
}

function misused(what: string): JadesError {
  return new JadesError('certificate-usage', `Het certificaat is niet voor ondertekenen bedoeld: ${what}.`);
}

const SIGNATURE_ALGORITHMS: ReadonlySet<string> = new Set([
  '1.2.840.113549.1.1.11', // sha256WithRSAEncryption
  '1.2.840.113549.1.1.12', // sha384WithRSAEncryption
  '1.2.840.113549.1.1.13', // sha512WithRSAEncryption
  '1.2.840.10045.4.3.2', // ecdsa-with-SHA256
  '1.2.840.10045.4.3.3', // ecdsa-with-SHA384
  '1.2.840.10045.4.3.4', // ecdsa-with-SHA512
]);
const RSA_PSS = '1.2.840.113549.1.1.10';
const STRONG_HASHES: ReadonlySet<string> = new Set([
  '2.16.840.1.101.3.4.2.1',
  '2.16.840.1.101.3.4.2.2',
  '2.16.840.1.101.3.4.2.3',
]);
const CURVES: ReadonlySet<string> = new Set(['prime256v1', 'secp384r1', 'secp521r1']);

const MIN_RSA_BITS = 2048;
const MAX_RSA_BITS = 8192;

/** True for RSA and ECDSA with SHA-2; SHA-1 and everything unknown is refused. */
export function isStrongSignature(algorithm: AlgorithmIdentifier): boolean {
  if (algorithm.algorithmId !== RSA_PSS) return SIGNATURE_ALGORITHMS.has(algorithm.algorithmId);
  const parameters: unknown = algorithm.algorithmParams;
  if (parameters === undefined) return false; // the defaults are SHA-1
  try {
    const pss = new RSASSAPSSParams({ schema: parameters });
    return STRONG_HASHES.has(pss.hashAlgorithm.algorithmId) && mgfHash(pss) === pss.hashAlgorithm.algorithmId;
  } catch {
    return false; // parameters that cannot be read name no strong algorithm
  }
}

/** The hash inside the mask generation function; it must be the same one (RFC 4055 section 3.1). */
function mgfHash(pss: RSASSAPSSParams): string {
  const parameters: unknown = pss.maskGenAlgorithm.algorithmParams;
  return new AlgorithmIdentifier({ schema: parameters }).algorithmId;
}

/** The fault of a public key, in Dutch; undefined when it is strong enough. */
export function keyFault(key: KeyObject): string | undefined {
  const details = key.asymmetricKeyDetails;
  if (key.asymmetricKeyType === 'ec') {
    return CURVES.has(details?.namedCurve ?? '') ? undefined : 'gebruikt een kromme die niet is toegestaan';
  }
  if (!isRsa(key)) return 'heeft een soort sleutel die niet is toegestaan';
  const bits = details?.modulusLength ?? 0;
  if (bits < MIN_RSA_BITS) return `heeft een RSA-sleutel van ${bits} bits; ten minste ${MIN_RSA_BITS} is vereist`;
  if (bits > MAX_RSA_BITS) return `heeft een RSA-sleutel van ${bits} bits; ten hoogste ${MAX_RSA_BITS} is toegestaan`;
  if ((details?.publicExponent ?? 0n) < 3n) return 'heeft een zwakke RSA-exponent';
  return undefined;
}
