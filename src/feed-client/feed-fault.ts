/**
 * What a feed did wrong, beside the faults of the connection (`OutboundFault`).
 * - `document`: its service document is not one
 * - `organisation-missing`: its service document names none of the organisations that are taken from it
 * - `own-feed`: the source is this very feed
 * - `feed-elsewhere`: its service document names the feed of another source
 * - `page`: an answer is no page of the draft
 * - `numbers`: numbers go back, or one is missing that no redaction names
 * - `cursor-stands-still`: a page with more to come, and nowhere to go on
 * - `cursor-circle`: its cursors come back to where they were
 * - `snapshot-endless`: a snapshot with more pages or records than there can be
 * - `cursor-refused`: it does not know the cursor any more
 * - `records`: records that cannot be taken over, or whose hash does not match
 * - `refused`: it answers with a status that waiting does not change
 */
export type FeedFaultCode =
  | 'document'
  | 'organisation-missing'
  | 'own-feed'
  | 'feed-elsewhere'
  | 'page'
  | 'numbers'
  | 'cursor-stands-still'
  | 'cursor-circle'
  | 'snapshot-endless'
  | 'cursor-refused'
  | 'records'
  | 'refused';

/** An answer that arrived and cannot be believed. */
export class FeedFault extends Error {
  override readonly name = 'FeedFault';
  readonly code: FeedFaultCode;
  /** Of `cursor-refused`: the answer says so itself; a bare 400 may have another cause, so it is asked again. */
  readonly certain: boolean;
  constructor(code: FeedFaultCode, message: string, { certain = true }: { readonly certain?: boolean } = {}) {
    super(message);
    this.code = code;
    this.certain = certain;
  }
}
