// A certificate, read by two parsers that must agree, OpenSSL (through Node) and pkijs; its extensions and names.
import { createHash, X509Certificate } from 'node:crypto';
import { BaseStringBlock, BitString } from 'asn1js';
import {
  AttributeTypeAndValue,
  BasicConstraints,
  CRLDistributionPoints,
  type Extension,
  ExtKeyUsage,
  type GeneralName,
  InfoAccess,
  Certificate as PkiCertificate,
  type RelativeDistinguishedNames,
} from 'pkijs';

/** Every reason to refuse a signature or digest; also the last part of the address of its problem. */
export const jadesErrorCodes = [
  'signature-missing',
  'signature-malformed',
  'signature-algorithm',
  'signature-invalid',
  'signature-expired',
  'signature-not-yet-valid',
  'certificate-untrusted',
  'certificate-expired',
  'certificate-revoked',
  'certificate-usage',
  'revocation-unknown',
  'digest-missing',
  'digest-mismatch',
] as const;

export type JadesErrorCode = (typeof jadesErrorCodes)[number];

/** A signature, digest or certificate is not accepted. `detail` is a Dutch sentence that may be shown to the sender. */
export class JadesError extends Error {
  override readonly name = 'JadesError';
  readonly code: JadesErrorCode;
  readonly detail: string;

  constructor(code: JadesErrorCode, detail: string, options?: { cause?: unknown }) {
    super(`${code}: ${detail}`, options);
    this.code = code;
    this.detail = detail;
  }
}

export interface Certificate {
  readonly der: Buffer;
  /** OpenSSL's reading: keys, names, signature checks. */
  readonly x509: X509Certificate;
  /** The library's reading: extensions, path validation. */
  readonly pki: PkiCertificate;
  /** base64url of the SHA-256 of the DER, as in `x5t#S256` (RFC 7515 section 4.1.8). */
  readonly thumbprint: string;
  readonly notBefore: Date;
  readonly notAfter: Date;
}

/** A certificate with its issuer, both from a verified path. */
export interface Subject {
  readonly certificate: Certificate;
  readonly issuer: Certificate;
}

/** Reads one DER certificate with nothing behind it. @throws Error when either parser refuses it */
export function parseCertificate(der: Uint8Array): Certificate {
  // A copy: the parsers keep views on their input.
  const bytes = Buffer.from(new Uint8Array(der).buffer);
  const x509 = new X509Certificate(bytes);
  if (!x509.raw.equals(bytes)) throw new Error('the certificate is not in DER, or is followed by other bytes');
  const pki = PkiCertificate.fromBER(new Uint8Array(bytes));
  if (bytes.indexOf(new Uint8Array(pki.tbs)) !== headerLength(bytes)) {
    throw new Error('the certificate is read differently by two parsers');
  }
  return {
    der: bytes,
    x509,
    pki,
    thumbprint: createHash('sha256').update(bytes).digest('base64url'),
    notBefore: pki.notBefore.value,
    notAfter: pki.notAfter.value,
  };
}

const PEM_BLOCK = /-----BEGIN ([A-Z0-9 ]+)-----([A-Za-z0-9+/=\s]*)-----END \1-----/g;

/** The certificates of a PEM text, in its order; other blocks are not read. @throws Error when one cannot be read */
export function parsePemCertificates(text: string): Certificate[] {
  const found: Certificate[] = [];
  for (const [, label, body] of text.matchAll(PEM_BLOCK)) {
    if (label !== 'CERTIFICATE' || body === undefined) continue;
    found.push(parseCertificate(Buffer.from(body, 'base64')));
  }
  return found;
}

export function isSelfIssued(certificate: Certificate): boolean {
  return (
    certificate.x509.subject === certificate.x509.issuer && certificate.pki.subject.isEqual(certificate.pki.issuer)
  );
}

function headerLength(der: Uint8Array): number {
  const length = der[1] ?? 0;
  return length < 0x80 ? 2 : 2 + (length & 0x7f);
}

// Extensions and names. @see RFC 5280 section 4.2

export const OID = {
  keyUsage: '2.5.29.15',
  subjectAltName: '2.5.29.17',
  basicConstraints: '2.5.29.19',
  nameConstraints: '2.5.29.30',
  crlDistributionPoints: '2.5.29.31',
  certificatePolicies: '2.5.29.32',
  policyMappings: '2.5.29.33',
  policyConstraints: '2.5.29.36',
  extKeyUsage: '2.5.29.37',
  inhibitAnyPolicy: '2.5.29.54',
  crlNumber: '2.5.29.20',
  issuingDistributionPoint: '2.5.29.28',
  authorityKeyIdentifier: '2.5.29.35',
  authorityInfoAccess: '1.3.6.1.5.5.7.1.1',
  ocsp: '1.3.6.1.5.5.7.48.1',
  serialNumber: '2.5.4.5',
} as const;

/** Bits of the first byte of a key usage (RFC 5280 section 4.2.1.3). */
export const USAGE = { digitalSignature: 0x80, nonRepudiation: 0x40, keyCertSign: 0x04, cRLSign: 0x02 } as const;

export function extension(certificate: Certificate, id: string): Extension | undefined {
  return certificate.pki.extensions?.find((entry) => entry.extnID === id);
}

/** The library's reading of an extension, not yet narrowed to a class; undefined when it cannot be read. */
export function parsedValue(entry: Extension | undefined): unknown {
  const value: unknown = entry?.parsedValue;
  const isBroken = typeof value === 'object' && value !== null && 'parsingError' in value;
  return isBroken ? undefined : value;
}

/** Each extension occurs once and, if known, is readable; an unknown one is not critical. @returns the fault */
export function extensionFault(extensions: readonly Extension[], known: ReadonlySet<string>): string | undefined {
  const seen = new Set<string>();
  for (const entry of extensions) {
    const { extnID: id, critical } = entry;
    if (seen.has(id)) return `extensie ${id} meer dan eens`;
    seen.add(id);
    if (!known.has(id) && critical) return `onbekende kritieke extensie ${id}`;
    if (known.has(id) && parsedValue(entry) === undefined) return `onleesbare extensie ${id}`;
  }
  return undefined;
}

/** The first byte of the key usage, 0 when it cannot be read; undefined when the certificate has none. */
export function keyUsage(certificate: Certificate): number | undefined {
  const entry = extension(certificate, OID.keyUsage);
  const value = parsedValue(entry);
  return entry && (value instanceof BitString ? (value.valueBlock.valueHexView[0] ?? 0) : 0);
}

/** The purposes of the extended key usage, none when it cannot be read; undefined when the certificate has no such usage. */
export function purposes(certificate: Certificate): readonly string[] | undefined {
  const entry = extension(certificate, OID.extKeyUsage);
  const value = parsedValue(entry);
  return entry && (value instanceof ExtKeyUsage ? value.keyPurposes : []);
}

/** Whether it is a certificate authority, and how many authorities may follow below it. */
export function authority(certificate: Certificate): { readonly ca: boolean; readonly pathLength: number } {
  const value = parsedValue(extension(certificate, OID.basicConstraints));
  if (!(value instanceof BasicConstraints)) return { ca: false, pathLength: 0 };
  const { cA: ca, pathLenConstraint: limit = Number.POSITIVE_INFINITY } = value;
  return { ca, pathLength: typeof limit === 'number' ? limit : Number(limit.toBigInt()) };
}

export function uriOf(name: GeneralName): string | undefined {
  const value: unknown = name.value;
  return name.type === 6 && typeof value === 'string' ? value : undefined;
}

/** The addresses of the OCSP responders of its issuer, http and https only. */
export function ocspAddresses(certificate: Certificate): string[] {
  const value = parsedValue(extension(certificate, OID.authorityInfoAccess));
  if (!(value instanceof InfoAccess)) return [];
  return value.accessDescriptions
    .filter((description) => description.accessMethod === OID.ocsp)
    .flatMap((description) => webAddress(description.accessLocation));
}

/** The addresses of complete lists by the issuer itself; partial and indirect lists are left out. */
export function crlAddresses(certificate: Certificate): string[] {
  const value = parsedValue(extension(certificate, OID.crlDistributionPoints));
  if (!(value instanceof CRLDistributionPoints)) return [];
  return value.distributionPoints
    .filter((point) => point.reasons === undefined && point.cRLIssuer === undefined)
    .flatMap((point) => (Array.isArray(point.distributionPoint) ? point.distributionPoint : []))
    .flatMap(webAddress);
}

function webAddress(name: GeneralName): string[] {
  const text = uriOf(name);
  return text !== undefined && /^https?:\/\//i.test(text) && URL.canParse(text) ? [text] : [];
}

/** The OIN (20 digits) in the subject's serialNumber; undefined when there is no OIN, or more than one attribute. */
export function signerOin(leaf: Certificate): string | undefined {
  const [oin = '', ...more] = attributeTexts(leaf.pki.subject, OID.serialNumber);
  return more.length === 0 && /^\d{20}$/.test(oin) ? oin : undefined;
}

export function attributeTexts(name: RelativeDistinguishedNames, type: string): string[] {
  return name.typesAndValues.flatMap((entry) => {
    const value: unknown = entry instanceof AttributeTypeAndValue && entry.type === type ? entry.value : undefined;
    return value instanceof BaseStringBlock ? [value.getValue()] : [];
  });
}
