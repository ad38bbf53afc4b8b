// What the extensions of a certificate say, each checked to be what its identifier promises.
// @see RFC 5280 section 4.2
import { BitString, OctetString } from 'asn1js';
import {
  BasicConstraints,
  CRLDistributionPoints,
  type Extension,
  ExtKeyUsage,
  type GeneralName,
  InfoAccess,
  NameConstraints,
} from 'pkijs';
import type { Certificate } from './certificate.ts';

export const oid = {
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
  authorityInfoAccess: '1.3.6.1.5.5.7.1.1',
  ocsp: '1.3.6.1.5.5.7.48.1',
} as const;

/** Bits of the first byte of a key usage (RFC 5280 section 4.2.1.3). */
export const usage = { digitalSignature: 0x80, nonRepudiation: 0x40, keyCertSign: 0x04, cRLSign: 0x02 } as const;

export function extension(certificate: Certificate, id: string): Extension | undefined {
  return certificate.pki.extensions?.find((entry) => entry.extnID === id);
}

/** The library's reading of an extension, not yet narrowed to a class. */
export function parsedValue(entry: Extension | undefined): unknown {
  return entry?.parsedValue;
}

/** The first byte of the key usage; undefined when the certificate has none. */
export function keyUsage(certificate: Certificate): number | undefined {
  const entry = extension(certificate, oid.keyUsage);
  if (entry === undefined) return undefined;
  const value = parsedValue(entry);
  return value instanceof BitString ? (value.valueBlock.valueHexView[0] ?? 0) : 0;
}

/** The purposes of the extended key usage; undefined when the certificate has none. */
export function purposes(certificate: Certificate): readonly string[] | undefined {
  const entry = extension(certificate, oid.extKeyUsage);
  if (entry === undefined) return undefined;
  const value = parsedValue(entry);
  return value instanceof ExtKeyUsage ? value.keyPurposes : [];
}

/** Whether it is a certificate authority, and how many others may follow it. */
export function authority(certificate: Certificate): { readonly ca: boolean; readonly pathLength: number } {
  const value = parsedValue(extension(certificate, oid.basicConstraints));
  if (!(value instanceof BasicConstraints)) return { ca: false, pathLength: 0 };
  const limit = value.pathLenConstraint;
  if (limit === undefined) return { ca: value.cA, pathLength: Number.POSITIVE_INFINITY };
  return { ca: value.cA, pathLength: typeof limit === 'number' ? limit : Number(limit.toBigInt()) };
}

export function nameConstraints(certificate: Certificate): NameConstraints | undefined {
  const value = parsedValue(extension(certificate, oid.nameConstraints));
  return value instanceof NameConstraints ? value : undefined;
}

/** The text of a name that is an address. */
export function uriOf(name: GeneralName): string | undefined {
  const value: unknown = name.value;
  return name.type === 6 && typeof value === 'string' ? value : undefined;
}

/** The addresses of the OCSP responders of its issuer, http and https only. */
export function ocspAddresses(certificate: Certificate): string[] {
  const value = parsedValue(extension(certificate, oid.authorityInfoAccess));
  if (!(value instanceof InfoAccess)) return [];
  return value.accessDescriptions
    .filter((description) => description.accessMethod === oid.ocsp)
    .flatMap((description) => webAddress(uriOf(description.accessLocation)));
}

/** The addresses of complete lists by the issuer itself; partial and indirect lists are left out. */
export function crlAddresses(certificate: Certificate): string[] {
  const value = parsedValue(extension(certificate, oid.crlDistributionPoints));
  if (!(value instanceof CRLDistributionPoints)) return [];
  return value.distributionPoints
    .filter((point) => point.reasons === undefined && point.cRLIssuer === undefined)
    .flatMap((point) => (Array.isArray(point.distributionPoint) ? point.distributionPoint : []))
    .flatMap((name) => webAddress(uriOf(name)));
}

function webAddress(text: string | undefined): string[] {
  return text !== undefined && /^https?:\/\//i.test(text) && URL.canParse(text) ? [text] : [];
}

/** The raw value of an extension. */
export function rawValue(entry: Extension): Uint8Array {
  return entry.extnValue instanceof OctetString ? entry.extnValue.valueBlock.valueHexView : new Uint8Array();
}
