/** Every cause for which a signature or digest is not accepted; the last part of the address of its problem. */
export const jadesErrorCodes = [
  'signature-missing',
  'signature-malformed',
  'signature-algorithm',
  'signature-invalid',
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
