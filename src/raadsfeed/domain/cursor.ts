/**
 * Cursors: opaque to who uses them, bound to this feed. A position in the feed is a number with the mark of the record there, so that
 * a number given a second time (a restored backup) is not taken for the same place.
 */

/** A place in the feed: after the record with this number. */
export interface FeedPosition {
  readonly sequenceNumber: number;
  readonly merk: number;
}

/** A place in a snapshot: where the feed stood when it began, and the last number that was looked at. */
export interface SnapshotPosition {
  readonly feed: FeedPosition;
  readonly after: number;
}

/** Length in bytes of the random identity of a feed. */
export const FEED_ID_BYTES = 8;

const FEED = 1;
const SNAPSHOT = 2;
const LIST = 3;
const NUMBER_BYTES = 6;
const POSITION_BYTES = NUMBER_BYTES + 4;
const HEAD_BYTES = 1 + FEED_ID_BYTES;

/** Why a cursor cannot be used. */
export type CursorFault = 'onleesbaar' | 'andere-feed';
export type Decoded<T> = { readonly position: T } | { readonly fault: CursorFault };

export function encodeFeedCursor(feedId: Buffer, position: FeedPosition): string {
  return start(FEED, feedId, POSITION_BYTES, (bytes) => writePosition(bytes, HEAD_BYTES, position));
}

export function encodeSnapshotCursor(feedId: Buffer, { feed, after }: SnapshotPosition): string {
  return start(SNAPSHOT, feedId, POSITION_BYTES + NUMBER_BYTES, (bytes) => {
    writePosition(bytes, HEAD_BYTES, feed);
    bytes.writeUIntBE(after, HEAD_BYTES + POSITION_BYTES, NUMBER_BYTES);
  });
}

/** A place in a list that is sorted by text: after this one. */
export function encodeListCursor(feedId: Buffer, after: string): string {
  const text = Buffer.from(after);
  return start(LIST, feedId, text.length, (bytes) => text.copy(bytes, HEAD_BYTES));
}

export function decodeFeedCursor(feedId: Buffer, cursor: string): Decoded<FeedPosition> {
  return decode(FEED, feedId, cursor, (bytes) =>
    bytes.length === HEAD_BYTES + POSITION_BYTES ? readPosition(bytes, HEAD_BYTES) : undefined,
  );
}

export function decodeSnapshotCursor(feedId: Buffer, cursor: string): Decoded<SnapshotPosition> {
  return decode(SNAPSHOT, feedId, cursor, (bytes) =>
    bytes.length === HEAD_BYTES + POSITION_BYTES + NUMBER_BYTES
      ? { feed: readPosition(bytes, HEAD_BYTES), after: bytes.readUIntBE(HEAD_BYTES + POSITION_BYTES, NUMBER_BYTES) }
      : undefined,
  );
}

export function decodeListCursor(feedId: Buffer, cursor: string): Decoded<string> {
  return decode(LIST, feedId, cursor, (bytes) => {
    const text = bytes.toString('utf8', HEAD_BYTES);
    // A zero byte is no text for the database; bytes that are no UTF-8 do not come back as they were.
    return text.includes('\0') || !Buffer.from(text).equals(bytes.subarray(HEAD_BYTES)) ? undefined : text;
  });
}

function start(kind: number, feedId: Buffer, size: number, fill: (bytes: Buffer) => void): string {
  const bytes = Buffer.alloc(HEAD_BYTES + size);
  bytes[0] = kind;
  feedId.copy(bytes, 1);
  fill(bytes);
  return bytes.toString('base64url');
}

function decode<T>(kind: number, feedId: Buffer, cursor: string, read: (bytes: Buffer) => T | undefined): Decoded<T> {
  const bytes = Buffer.from(cursor, 'base64url');
  // The decoder skips what it does not know; only what it would itself have written counts.
  if (bytes.length < HEAD_BYTES || bytes[0] !== kind || bytes.toString('base64url') !== cursor) {
    return { fault: 'onleesbaar' };
  }
  if (!bytes.subarray(1, HEAD_BYTES).equals(feedId)) return { fault: 'andere-feed' };
  const position = read(bytes);
  return position === undefined ? { fault: 'onleesbaar' } : { position };
}

function writePosition(bytes: Buffer, offset: number, { sequenceNumber, merk }: FeedPosition): void {
  bytes.writeUIntBE(sequenceNumber, offset, NUMBER_BYTES);
  bytes.writeInt32BE(merk, offset + NUMBER_BYTES);
}

function readPosition(bytes: Buffer, offset: number): FeedPosition {
  return { sequenceNumber: bytes.readUIntBE(offset, NUMBER_BYTES), merk: bytes.readInt32BE(offset + NUMBER_BYTES) };
}
