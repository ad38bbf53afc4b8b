/**
 * What a source did wrong, beside the faults of the connection (`OutboundFault`).
 * - `document`: its service document is not one
 * - `organisation-missing`: its service document names none of its organisations
 * - `own-feed`: the source is this very feed
 * - `page`: a page is not of the form of the contract
 * - `numbers`: numbers go back, or one is missing
 * - `cursor-stands-still`: a page with more to come, and nowhere to go on
 * - `cursor-refused`: the source does not know the cursor any more
 * - `records`: records that are not of the form of the contract, or whose hash does not match
 */
export type SourceFaultCode =
  | 'document'
  | 'organisation-missing'
  | 'own-feed'
  | 'page'
  | 'numbers'
  | 'cursor-stands-still'
  | 'cursor-refused'
  | 'records';

/** An answer that arrived and cannot be believed: nothing of it is published. */
export class SourceFault extends Error {
  override readonly name = 'SourceFault';
  readonly code: SourceFaultCode;
  constructor(code: SourceFaultCode, message: string) {
    super(message);
    this.code = code;
  }
}
