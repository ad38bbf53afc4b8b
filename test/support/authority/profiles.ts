// Profiles of the authority's certificates: modelled on PKIoverheid, with unmistakably different names.
import { createPublicKey, type KeyObject, type X509Certificate } from 'node:crypto';
import {
  authorityInfoAccess,
  basicConstraints,
  type CertificateRequest,
  certificatePolicies,
  crlDistributionPoint,
  type Extension,
  extendedKeyUsage,
  type Issuer,
  keyUsage,
  mintCertificate,
  type Name,
} from './certificates.ts';

export const rootName: Name = [
  ['country', 'NL'],
  ['organization', 'Koppelvlak demonstratie'],
  ['commonName', 'Koppelvlak demo Root CA'],
];
export const intermediateName: Name = [
  ['country', 'NL'],
  ['organization', 'Koppelvlak demonstratie'],
  ['commonName', 'Koppelvlak demo Services CA'],
];
/** PKIoverheid's policy for services certificates in the private domain. */
export const servicesPolicy = '2.16.528.1.1003.1.2.8.6';
const clientAuth = '1.3.6.1.5.5.7.3.2';
const serverAuth = '1.3.6.1.5.5.7.3.1';
const dayMs = 24 * 3_600_000;

/** Where a certificate's status can be looked up. */
export interface Addresses {
  readonly ocspUrl?: string;
  readonly crlUrl?: string;
}

export interface LeafRequest extends Addresses, Partial<CertificateRequest> {
  readonly key: KeyObject;
  readonly issuer: Issuer;
  readonly now: Date;
  readonly organization: string;
  /** Twenty digits. */
  readonly oin: string;
}

interface AuthorityRequest extends Addresses, Partial<CertificateRequest> {
  readonly subject: Name;
  readonly key: KeyObject;
  readonly issuer: Issuer;
  readonly now: Date;
  readonly pathLength?: number;
}

export function mintRoot(key: KeyObject, now: Date): X509Certificate {
  return mintCertificate({
    subject: rootName,
    key,
    ...validity(now, 3650),
    extensions: [basicConstraints(true), keyUsage(['keyCertSign', 'cRLSign'])],
  });
}

export function mintAuthority(request: AuthorityRequest): X509Certificate {
  const { pathLength, now, ocspUrl, crlUrl, ...given } = request;
  return mintCertificate({
    ...validity(now, 1825),
    extensions: [
      basicConstraints(true, pathLength),
      keyUsage(['keyCertSign', 'cRLSign']),
      certificatePolicies([servicesPolicy]),
      ...addressExtensions(request),
    ],
    ...given,
    key: createPublicKey(request.key),
  });
}

export function mintLeaf(request: LeafRequest): X509Certificate {
  const { now, organization, oin, ocspUrl, crlUrl, ...given } = request;
  return mintCertificate({
    subject: leafName(organization, oin),
    ...validity(now, 730),
    extensions: leafExtensions(request),
    ...given,
    key: createPublicKey(request.key),
  });
}

function leafName(organization: string, oin: string): Name {
  return [
    ['country', 'NL'],
    ['organization', organization],
    ['commonName', `${organization} gegevenslevering`],
    ['serialNumber', oin],
  ];
}

export function leafExtensions(addresses: Addresses): Extension[] {
  return [
    basicConstraints(false),
    keyUsage(['digitalSignature', 'keyEncipherment']),
    extendedKeyUsage([clientAuth, serverAuth]),
    certificatePolicies([servicesPolicy]),
    ...addressExtensions(addresses),
  ];
}

export function addressExtensions({ ocspUrl, crlUrl }: Addresses): Extension[] {
  return [
    ...(ocspUrl === undefined ? [] : [authorityInfoAccess(ocspUrl)]),
    ...(crlUrl === undefined ? [] : [crlDistributionPoint(crlUrl)]),
  ];
}

function validity(now: Date, days: number): { notBefore: Date; notAfter: Date } {
  const start = Math.floor(now.getTime() / 1000) * 1000;
  return { notBefore: new Date(start - dayMs), notAfter: new Date(start + days * dayMs) };
}
