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

export type Name = readonly (readonly [keyof typeof ATTRIBUTES, string])[];
type AnyName = Name | pkijs.RelativeDistinguishedNames;

export interface Issuer {
  readonly name: Name;
  readonly key: KeyObject;
}

interface CertificateRequest {
  readonly subject: AnyName;
  readonly key: KeyObject;
  readonly issuer: { readonly name: AnyName; readonly key: KeyObject };
  readonly from: Date;
  readonly days: number;
  readonly extensions: readonly pkijs.Extension[];
}

const DAY_MS = 24 * 3_600_000;

/** RSA with SHA-256. The library's own `sign` omits the parameters that RFC 4055 requires. */
export function signatureAlgorithm(): pkijs.AlgorithmIdentifier {
  return new pkijs.AlgorithmIdentifier({ algorithmId: '1.2.840.113549.1.1.11', algorithmParams: new asn1.Null() });
}

/** @param structure contents, algorithm and signature, as the standards write certificates, lists and answers */
export function signatureOf(structure: asn1.Sequence, key: KeyObject): asn1.BitString {
  const [contents = structure] = structure.valueBlock.value;
  return new asn1.BitString({ valueHex: sign('sha256', Buffer.from(contents.toBER()), key) });
}

export function encodeName(name: AnyName): pkijs.RelativeDistinguishedNames {
  if (name instanceof pkijs.RelativeDistinguishedNames) return name;
  const attributes = name.map(([type, value]) => {
    const isPlain = type === 'country' || type === 'serialNumber';
    const text = isPlain ? new asn1.PrintableString({ value }) : new asn1.Utf8String({ value });
    const attribute = new asn1.Sequence({ value: [new asn1.ObjectIdentifier({ value: ATTRIBUTES[type] }), text] });
    return new asn1.Set({ value: [attribute] });
  });
  // Built from attributes, it would write all of them into one set.
  return pkijs.RelativeDistinguishedNames.fromBER(new asn1.Sequence({ value: attributes }).toBER());
}

/** From a day before, for clocks that are behind. */
export function mintCertificate(request: CertificateRequest): X509Certificate {
  const { subject, key, issuer, from, days, extensions } = request;
  const start = Math.floor(from.getTime() / 1000) * 1000;
  const certificate = new pkijs.Certificate({
    version: 2,
    // Positive and without leading zeros.
    serialNumber: integer(`4${randomBytes(16).toString('hex').slice(1)}`),
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
  { thisUpdate, nextUpdate }: { readonly thisUpdate: Date; readonly nextUpdate: Date },
): Buffer {
  const number = integer(thisUpdate.getTime().toString(16));
  const revocationDate = new pkijs.Time({ value: thisUpdate });
  const revokedCertificates = serials.map(
    (serial) => new pkijs.RevokedCertificate({ userCertificate: integer(serial), revocationDate }),
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

function integer(hex: string): asn1.Integer {
  return asn1.Integer.fromBigInt(BigInt(`0x${hex}`));
}

export function keyBits(key: KeyObject): Buffer {
  return createPublicKey(key).export({ type: 'pkcs1', format: 'der' });
}

/** The identifier that other tools expect of an issuer (RFC 5280 section 4.2.1.2, method 1). */
function keyIdentifier(key: KeyObject): Buffer {
  return createHash('sha1').update(keyBits(key)).digest();
}

function extension(extnID: string, value: asn1.BaseBlock, critical = false): pkijs.Extension {
  return new pkijs.Extension({ extnID, critical, extnValue: value.toBER() });
}

function authorityKeyIdentifier({ key }: Pick<Issuer, 'key'>): pkijs.Extension {
  const keyId = new asn1.OctetString({ valueHex: keyIdentifier(key) });
  return extension('2.5.29.35', new pkijs.AuthorityKeyIdentifier({ keyIdentifier: keyId }).toSchema());
}

/** An authority may sign certificates and lists, up to this many authorities below it. */
export function authorityExtensions(pathLenConstraint?: number): pkijs.Extension[] {
  const value = new pkijs.BasicConstraints({
    cA: true,
    ...(pathLenConstraint === undefined ? {} : { pathLenConstraint }),
  });
  return [extension('2.5.29.19', value.toSchema(), true), keyUsage(0x06)];
}

/** A party may sign and exchange keys, as a client and as a server. */
export function partyExtensions(): pkijs.Extension[] {
  const keyPurposes = ['1.3.6.1.5.5.7.3.2', '1.3.6.1.5.5.7.3.1'];
  return [
    extension('2.5.29.19', new pkijs.BasicConstraints({ cA: false }).toSchema(), true),
    keyUsage(0xa0),
    extension('2.5.29.37', new pkijs.ExtKeyUsage({ keyPurposes }).toSchema()),
  ];
}

/** @param bits the first is `digitalSignature` (RFC 5280 section 4.2.1.3) */
function keyUsage(bits: number): pkijs.Extension {
  const unusedBits = 31 - Math.clz32(bits & -bits);
  return extension('2.5.29.15', new asn1.BitString({ valueHex: Uint8Array.of(bits).buffer, unusedBits }), true);
}

/** A policy, and the addresses where the status of the certificate can be requested. */
export function statusExtensions(policyIdentifier: string, ocspUrl: string, crlUrl: string): pkijs.Extension[] {
  const address = (value: string) => new pkijs.GeneralName({ type: 6, value });
  const policy = new pkijs.PolicyInformation({ policyIdentifier });
  const access = new pkijs.AccessDescription({ accessMethod: '1.3.6.1.5.5.7.48.1', accessLocation: address(ocspUrl) });
  const point = new pkijs.DistributionPoint({ distributionPoint: [address(crlUrl)] });
  return [
    extension('2.5.29.32', new pkijs.CertificatePolicies({ certificatePolicies: [policy] }).toSchema()),
    extension('1.3.6.1.5.5.7.1.1', new pkijs.InfoAccess({ accessDescriptions: [access] }).toSchema()),
    extension('2.5.29.31', new pkijs.CRLDistributionPoints({ distributionPoints: [point] }).toSchema()),
  ];
}
