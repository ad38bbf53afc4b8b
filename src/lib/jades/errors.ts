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

/** A signature whose form is wrong. @param what in Dutch, may be shown to the sender */
export function malformed(what: string, cause?: unknown): JadesError {
  return new JadesError('signature-malformed', `De handtekening is niet leesbaar: ${what}.`, { cause });
}
