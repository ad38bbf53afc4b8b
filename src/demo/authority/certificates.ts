/** The certificates and revocation lists of the demo's authority, made and signed with pkijs. @see RFC 5280 */
import { createHash, createPublicKey, type KeyObject, randomBytes, sign, X509Certificate } from 'node:crypto';
import * as asn1 from 'asn1js';
import * as pkijs from 'pkijs';

const ATTRIBUTES = {
  commonName: '2.5.4.3',
  serialNumber: '2.5.4.5',
  country: '2.5.4.6',
  organization: '2.5.4.10',
} as const;

/** Attributes in the order of the name. */
export type Name = readonly (readonly [keyof typeof ATTRIBUTES, string])[];

/** Who signs certificates, lists and answers. */
export interface Issuer {
  readonly name: Name;
  readonly key: KeyObject;
}

export interface CertificateRequest {
  readonly subject: Name;
  /** Private key of the subject. */
  readonly key: KeyObject;
  /** The subject itself for a root. */
  readonly issuer: Issuer;
  readonly from: Date;
  readonly days: number;
  readonly extensions: readonly pkijs.Extension[];
}

const DAY_MS = 24 * 3_600_000;

/** RSA with SHA-256. */
export function signatureAlgorithm(): pkijs.AlgorithmIdentifier {
  return new pkijs.AlgorithmIdentifier({ algorithmId: '1.2.840.113549.1.1.11', algorithmParams: new asn1.Null() });
}

/** @param structure contents, algorithm and signature, as the standards write certificates, lists and answers */
export function signatureOf(structure: asn1.Sequence, key: KeyObject): asn1.BitString {
  const [contents = structure] = structure.valueBlock.value;
  return new asn1.BitString({ valueHex: sign('sha256', Buffer.from(contents.toBER()), key) });
}

export function encodeName(name: Name): pkijs.RelativeDistinguishedNames {
  const attributes = name.map(([type, value]) => {
    const isPlain = type === 'country' || type === 'serialNumber';
    const text = isPlain ? new asn1.PrintableString({ value }) : new asn1.Utf8String({ value });
    const attribute = new asn1.Sequence({ value: [new asn1.ObjectIdentifier({ value: ATTRIBUTES[type] }), text] });
    return new asn1.Set({ value: [attribute] });
  });
  // Made of attributes it would write all into one set.
  return pkijs.RelativeDistinguishedNames.fromBER(new asn1.Sequence({ value: attributes }).toBER());
}

/** From a day before, for clocks that are behind. */
export function mintCertificate(request: CertificateRequest): X509Certificate {
  const { subject, key, issuer, from, days, extensions } = request;
  const start = Math.floor(from.getTime() / 1000) * 1000;
  const certificate = new pkijs.Certificate({
    version: 2,
    serialNumber: integer(randomSerial()),
    signature: signatureAlgorithm(),
    signatureAlgorithm: signatureAlgorithm(),
    issuer: encodeName(issuer.name),
    subject: encodeName(subject),
    notBefore: new pkijs.Time({ value: new Date(start - DAY_MS) }),
    notAfter: new pkijs.Time({ value: new Date(start + days * DAY_MS) }),
    subjectPublicKeyInfo: pkijs.PublicKeyInfo.fromBER(createPublicKey(key).export({ type: 'spki', format: 'der' })),
    extensions: [
      extension('2.5.29.14', new asn1.OctetString({ valueHex: keyIdentifier(key) })),
      authorityKeyIdentifier(issuer),
      ...extensions,
    ],
  });
  certificate.signatureValue = signatureOf(certificate.toSchema(true), issuer.key);
  return new X509Certificate(Buffer.from(certificate.toSchema(true).toBER()));
}

/** @param serials hexadecimal */
export function signRevocationList(
  issuer: Issuer,
  serials: readonly string[],
  dates: { readonly thisUpdate: Date; readonly nextUpdate: Date },
): Buffer {
  const { thisUpdate, nextUpdate } = dates;
  const number = integer(thisUpdate.getTime().toString(16));
  const revokedCertificates = serials.map(
    (serial) =>
      new pkijs.RevokedCertificate({
        userCertificate: integer(serial),
        revocationDate: new pkijs.Time({ value: thisUpdate }),
      }),
  );
  const list = new pkijs.CertificateRevocationList({
    version: 1,
    signature: signatureAlgorithm(),
    signatureAlgorithm: signatureAlgorithm(),
    issuer: encodeName(issuer.name),
    thisUpdate: new pkijs.Time({ value: thisUpdate }),
    nextUpdate: new pkijs.Time({ value: nextUpdate }),
    ...(serials.length === 0 ? {} : { revokedCertificates }),
    crlExtensions: new pkijs.Extensions({
      extensions: [authorityKeyIdentifier(issuer), extension('2.5.29.20', number)],
    }),
  });
  list.signatureValue = signatureOf(list.toSchema(true), issuer.key);
  return Buffer.from(list.toSchema(true).toBER());
}

/** A positive integer of hexadecimal digits. */
function integer(hex: string): asn1.Integer {
  const even = hex.length % 2 === 0 ? hex : `0${hex}`;
  return new asn1.Integer({ valueHex: Buffer.from(/^[89a-f]/i.test(even) ? `00${even}` : even, 'hex') });
}

/** Sixteen random bytes, positive and without leading zeros. */
function randomSerial(): string {
  const bytes = randomBytes(16);
  bytes[0] = ((bytes[0] ?? 0) & 0x3f) | 0x40;
  return bytes.toString('hex');
}

/** The bits of the public key of an RSA issuer: its PKCS#1 structure. */
export function keyBits(key: KeyObject): Buffer {
  return createPublicKey(key).export({ type: 'pkcs1', format: 'der' });
}

/** What other tools assume of an issuer when they mint below it (RFC 5280 section 4.2.1.2, method 1). */
function keyIdentifier(key: KeyObject): Buffer {
  return createHash('sha1').update(keyBits(key)).digest();
}

function extension(extnID: string, value: asn1.BaseBlock, critical = false): pkijs.Extension {
  return new pkijs.Extension({ extnID, critical, extnValue: value.toBER() });
}

function authorityKeyIdentifier({ key }: Issuer): pkijs.Extension {
  const keyId = new asn1.OctetString({ valueHex: keyIdentifier(key) });
  return extension('2.5.29.35', new pkijs.AuthorityKeyIdentifier({ keyIdentifier: keyId }).toSchema());
}

export function basicConstraints(cA: boolean, pathLenConstraint?: number): pkijs.Extension {
  const value = new pkijs.BasicConstraints({ cA, ...(pathLenConstraint === undefined ? {} : { pathLenConstraint }) });
  return extension('2.5.29.19', value.toSchema(), true);
}

const USAGES = {
  /** `digitalSignature` and `keyEncipherment`. */
  party: 0xa0,
  /** `keyCertSign` and `cRLSign`. */
  authority: 0x06,
} as const;

export function keyUsage(of: keyof typeof USAGES): pkijs.Extension {
  const byte = USAGES[of];
  const unusedBits = 31 - Math.clz32(byte & -byte);
  return extension('2.5.29.15', new asn1.BitString({ valueHex: Uint8Array.of(byte).buffer, unusedBits }), true);
}

export function extendedKeyUsage(...keyPurposes: string[]): pkijs.Extension {
  return extension('2.5.29.37', new pkijs.ExtKeyUsage({ keyPurposes }).toSchema());
}

export function certificatePolicy(policyIdentifier: string): pkijs.Extension {
  const policy = new pkijs.PolicyInformation({ policyIdentifier });
  return extension('2.5.29.32', new pkijs.CertificatePolicies({ certificatePolicies: [policy] }).toSchema());
}

/** Where the status of a certificate can be asked. */
export function statusAddresses(ocspUrl: string, crlUrl: string): pkijs.Extension[] {
  const address = (value: string) => new pkijs.GeneralName({ type: 6, value });
  const access = new pkijs.AccessDescription({ accessMethod: '1.3.6.1.5.5.7.48.1', accessLocation: address(ocspUrl) });
  const point = new pkijs.DistributionPoint({ distributionPoint: [address(crlUrl)] });
  return [
    extension('1.3.6.1.5.5.7.1.1', new pkijs.InfoAccess({ accessDescriptions: [access] }).toSchema()),
    extension('2.5.29.31', new pkijs.CRLDistributionPoints({ distributionPoints: [point] }).toSchema()),
  ];
}
