// The client certificate that a proxy took from its mTLS connection and handed on. @see RFC 9440, RFC 8705 section 3.1
import { hash, X509Certificate } from 'node:crypto';
import { TokenError } from './token-error.ts';

/** Far above any certificate in use (an RSA-4096 leaf takes 3 KB), and below what a proxy passes as one header. */
const maxHeaderLength = 16_384;

/** RFC 8941 section 3.3.5: a byte sequence, without parameters (RFC 9440 defines none). */
const byteSequence = /^:([A-Za-z0-9+/]*={0,2}):$/;

/**
 * The SHA-256 thumbprint (base64url, as in `x5t#S256`) of the certificate in a `Client-Cert` header.
 *
 * @throws {TokenError} `invalid` when the value is not one byte sequence that holds exactly one DER certificate
 */
export function clientCertificateThumbprint(header: string): string {
  const encoded = header.length > maxHeaderLength ? undefined : byteSequence.exec(header)?.[1];
  if (encoded === undefined) throw new TokenError('invalid', 'client-certificate-malformed');
  const der = Buffer.from(encoded, 'base64');
  let read: X509Certificate;
  try {
    read = new X509Certificate(der);
  } catch (cause) {
    throw new TokenError('invalid', 'client-certificate-malformed', { cause });
  }
  // X509Certificate takes PEM text and trailing bytes too; the thumbprint must be that of what was sent.
  if (!read.raw.equals(der)) throw new TokenError('invalid', 'client-certificate-malformed');
  return hash('sha256', der, 'base64url');
}
