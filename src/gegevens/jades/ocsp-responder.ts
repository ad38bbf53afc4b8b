// Whether a certificate may answer for an issuer.
// @see RFC 6960 section 4.2.2.2
import { CertificateChainValidationEngine, type Certificate as PkiCertificate } from 'pkijs';
import { keyFault } from './algorithms.ts';
import { type Certificate, parseCertificate } from './certificate.ts';
import { keyUsage, purposes, usage } from './certificate-extensions.ts';
import { checkForm, checkSignatureAlgorithm } from './chain-rules.ts';

const ocspSigning = '1.3.6.1.5.5.7.3.9';

/**
 * A delegate has the OCSP-signing purpose, was issued directly by the issuer it answers for, and is valid now.
 * @throws Error
 */
export async function checkResponder(candidate: PkiCertificate, issuer: Certificate, now: Date): Promise<void> {
  const delegate = parseCertificate(new Uint8Array(candidate.toSchema().toBER()));
  if (purposes(delegate)?.includes(ocspSigning) !== true) throw new Error('the responder may not sign answers');
  if (((keyUsage(delegate) ?? usage.digitalSignature) & usage.digitalSignature) === 0) {
    throw new Error('the key usage of the responder leaves out signatures');
  }
  checkForm(delegate);
  checkSignatureAlgorithm(delegate);
  if (keyFault(delegate.x509.publicKey) !== undefined) throw new Error('the responder has a weak key');
  if (!delegate.x509.checkIssued(issuer.x509) || !delegate.x509.verify(issuer.x509.publicKey)) {
    throw new Error('the responder was not appointed by the issuer');
  }
  const engine = new CertificateChainValidationEngine({
    certs: [delegate.pki],
    trustedCerts: [issuer.pki],
    checkDate: now,
  });
  const outcome = await engine.verify();
  if (!outcome.result) throw new Error(`the responder is not valid: ${outcome.resultMessage}`);
}
