export type OwnKeyFault =
  | 'unreadable-key'
  | 'unreadable-chain'
  | 'unreadable-p12'
  | 'wrong-passphrase'
  | 'mismatched-pair'
  | 'broken-chain'
  | 'weak-key'
  | 'wrong-usage'
  | 'not-yet-valid'
  | 'expired';

/** The own key cannot be used; `message` says why, for the operator. */
export class OwnKeyError extends Error {
  override readonly name = 'OwnKeyError';
  readonly code: OwnKeyFault;

  constructor(code: OwnKeyFault, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.code = code;
  }
}
