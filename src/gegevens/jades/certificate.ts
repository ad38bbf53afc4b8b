// One certificate, read by two parsers that must agree: OpenSSL (through Node) and pkijs.
import { createHash, X509Certificate } from 'node:crypto';
import { Certificate as PkiCertificate } from 'pkijs';

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

/**
 * Reads one DER certificate with nothing behind it.
 * @throws Error when either parser refuses it
 */
export function parseCertificate(der: Uint8Array): Certificate {
  // A copy of its own: the parsers keep views on what they were given.
  const bytes = Buffer.from(new Uint8Array(der).buffer);
  const x509 = new X509Certificate(bytes);
  if (!x509.raw.equals(bytes)) throw new Error('the certificate is not in DER or has bytes behind it');
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

/** Subject and issuer are the same name (RFC 5280 section 3.2). */
export function isSelfIssued(certificate: Certificate): boolean {
  return (
    certificate.x509.subject === certificate.x509.issuer && certificate.pki.subject.isEqual(certificate.pki.issuer)
  );
}

/** The number of bytes of the tag and length a DER structure begins with. */
function headerLength(der: Uint8Array): number {
  const length = der[1] ?? 0;
  return length < 0x80 ? 2 : 2 + (length & 0x7f);
}
