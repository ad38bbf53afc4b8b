// The rules for a path that the library does not check, each as a function that names the fault.
// @see RFC 5280 section 6.1; docs/decisions/0003-path-validation.md
import { BitString } from 'asn1js';
import { isStrongSignature, keyFault } from './algorithms.ts';
import { type Certificate, isSelfIssued } from './certificate.ts';
import {
  authority,
  extension,
  keyUsage,
  oid,
  parsedValue,
  purposes,
  rawValue,
  usage,
} from './certificate-extensions.ts';
import { JadesError } from './errors.ts';
import { meetsNameConstraints } from './name-constraints.ts';

/** Critical extensions that this library or pkijs acts upon; a certificate with any other is refused. */
const known: ReadonlySet<string> = new Set([
  oid.keyUsage,
  oid.subjectAltName,
  oid.basicConstraints,
  oid.nameConstraints,
  oid.certificatePolicies,
  oid.policyMappings,
  oid.policyConstraints,
  oid.extKeyUsage,
  oid.inhibitAnyPolicy,
]);

/** Purposes of an extended key usage under which a message may be signed; PKIoverheid services and seal certificates. */
const signingPurposes: ReadonlySet<string> = new Set([
  '2.5.29.37.0', // any
  '1.3.6.1.5.5.7.3.1', // serverAuth
  '1.3.6.1.5.5.7.3.2', // clientAuth
  '1.3.6.1.5.5.7.3.4', // emailProtection
  '1.3.6.1.5.5.7.3.36', // documentSigning
  '1.3.6.1.4.1.311.10.3.12', // documentSigning, Microsoft's older identifier
]);

/** @throws JadesError certificate-untrusted, certificate-expired or certificate-usage */
export function checkPathRules(path: readonly Certificate[], at: Date): void {
  path.forEach((certificate, index) => {
    const isAnchor = index === path.length - 1;
    checkKey(certificate);
    checkForm(certificate);
    if (!isAnchor) checkSignatureAlgorithm(certificate);
    if (index > 0) checkAuthority(path, index, isAnchor);
  });
  const keys = new Set(path.map(({ x509 }) => x509.publicKey.export({ type: 'spki', format: 'der' }).toString('hex')));
  if (keys.size !== path.length) throw untrusted('dezelfde sleutel komt meer dan eens voor in het certificaatpad');
  if (!meetsNameConstraints(path)) throw untrusted('een naam valt buiten de naambeperkingen van een uitgever');
  checkValidity(path, at);
  checkLeafUsage(path);
}

export function untrusted(what: string, cause?: unknown): JadesError {
  return new JadesError('certificate-untrusted', `Het certificaat wordt niet vertrouwd: ${what}.`, { cause });
}

/** @throws JadesError certificate-expired, also for a certificate that is not yet valid */
export function checkValidity(path: readonly Certificate[], at: Date): void {
  for (const { notBefore, notAfter } of path) {
    if (at < notBefore) throw new JadesError('certificate-expired', 'Een certificaat in het pad is nog niet geldig.');
    if (at > notAfter) throw new JadesError('certificate-expired', 'Een certificaat in het pad is verlopen.');
  }
}

function checkKey({ x509 }: Certificate): void {
  const fault = keyFault(x509.publicKey);
  if (fault !== undefined) throw untrusted(`een certificaat in het pad ${fault}`);
}

/** Version 3, no extension twice, every known extension readable, no unknown critical one. */
export function checkForm({ pki }: Certificate): void {
  const extensions = pki.extensions ?? [];
  if (extensions.length > 0 && pki.version !== 2) throw untrusted('een certificaat met extensies is geen versie 3');
  if (new Set(extensions.map(({ extnID }) => extnID)).size !== extensions.length) {
    throw untrusted('een certificaat bevat een extensie meer dan eens');
  }
  for (const entry of extensions) {
    if (entry.critical && !known.has(entry.extnID)) throw untrusted(`onbekende kritieke extensie ${entry.extnID}`);
    const value = parsedValue(entry);
    const broken = typeof value === 'object' && value !== null && 'parsingError' in value && value.parsingError;
    if (known.has(entry.extnID) && (value === undefined || value === null || broken)) {
      throw untrusted(`onleesbare extensie ${entry.extnID}`);
    }
    if (entry.extnID === oid.keyUsage && !(value instanceof BitString && rawValue(entry).length <= 5)) {
      throw untrusted('onleesbare extensie keyUsage');
    }
  }
}

export function checkSignatureAlgorithm({ pki }: Certificate): void {
  if (!isStrongSignature(pki.signatureAlgorithm)) throw untrusted('een certificaat is met een zwak algoritme getekend');
  const inner = Buffer.from(pki.signature.toSchema().toBER());
  if (!inner.equals(Buffer.from(pki.signatureAlgorithm.toSchema().toBER()))) {
    throw untrusted('een certificaat noemt twee verschillende algoritmen');
  }
}

/** Basic constraints, key usage and path length; an anchor may predate the key usage extension. */
function checkAuthority(path: readonly Certificate[], index: number, isAnchor: boolean): void {
  const certificate = path[index];
  if (certificate === undefined) return;
  const { ca, pathLength } = authority(certificate);
  if (!ca) throw untrusted('een certificaat in het pad is geen uitgever');
  const bits = keyUsage(certificate);
  if (bits === undefined ? !isAnchor : (bits & usage.keyCertSign) === 0) {
    throw untrusted('een uitgever in het pad mag geen certificaten ondertekenen');
  }
  const between = path.slice(1, index).filter((other) => !isSelfIssued(other)).length;
  if (between > pathLength) throw untrusted('het certificaatpad is langer dan een uitgever toestaat');
}

/** The signer is no authority, may make signatures, and every extended usage in the path leaves room for it. */
function checkLeafUsage(path: readonly Certificate[]): void {
  const [leaf] = path;
  if (leaf === undefined) return;
  const bits = keyUsage(leaf) ?? 0;
  if ((bits & (usage.digitalSignature | usage.nonRepudiation)) === 0) {
    throw misused('het sleutelgebruik omvat digitalSignature noch nonRepudiation');
  }
  if (authority(leaf).ca || (bits & usage.keyCertSign) !== 0) throw misused('het is een certificaat van een uitgever');
  let left = [...signingPurposes];
  for (const certificate of path.slice(0, -1)) {
    const named = extension(certificate, oid.extKeyUsage) === undefined ? undefined : purposes(certificate);
    if (named !== undefined && !named.includes('2.5.29.37.0')) left = left.filter((purpose) => named.includes(purpose));
  }
  if (left.length === 0) throw misused('het uitgebreide sleutelgebruik laat het ondertekenen van berichten niet toe');
}

function misused(what: string): JadesError {
  return new JadesError('certificate-usage', `Het certificaat is niet voor ondertekenen bedoeld: ${what}.`);
}
