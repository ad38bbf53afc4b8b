/**
 * Cursors: opaque to clients, bound to this feed. A position is a number with the epoch of the record there, so that a number that is given
 * a second time, after a backup was restored, is not taken for the same position.
 */
import { Problem } from '../../lib/problem.ts';
import { raadsfeedProblems } from '../problems.ts';
import type { FeedHead, FeedPosition } from '../store/feed-row.ts';
import type { HeadCache } from './head.ts';

/** A position in a snapshot: where the feed stood when it began, and the last number that was read. */
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

export function encodeFeedCursor(feedId: string, position: FeedPosition): string {
  return start(FEED, feedId, POSITION_BYTES, (bytes) => writePosition(bytes, HEAD_BYTES, position));
}

export function encodeSnapshotCursor(feedId: string, { feed, after }: SnapshotPosition): string {
  return start(SNAPSHOT, feedId, POSITION_BYTES + NUMBER_BYTES, (bytes) => {
    writePosition(bytes, HEAD_BYTES, feed);
    bytes.writeUIntBE(after, HEAD_BYTES + POSITION_BYTES, NUMBER_BYTES);
  });
}

/** A position in a list that is sorted by text: after this one. */
export function encodeListCursor(feedId: string, after: string): string {
  const text = Buffer.from(after);
  return start(LIST, feedId, text.length, (bytes) => text.copy(bytes, HEAD_BYTES));
}

function decodeFeedCursor(feedId: string, cursor: string): Decoded<FeedPosition> {
  return decode(FEED, feedId, cursor, (bytes) =>
    bytes.length === HEAD_BYTES + POSITION_BYTES ? readPosition(bytes, HEAD_BYTES) : undefined,
  );
}

export function decodeSnapshotCursor(feedId: string, cursor: string): Decoded<SnapshotPosition> {
  return decode(SNAPSHOT, feedId, cursor, (bytes) =>
    bytes.length === HEAD_BYTES + POSITION_BYTES + NUMBER_BYTES
      ? { feed: readPosition(bytes, HEAD_BYTES), after: bytes.readUIntBE(HEAD_BYTES + POSITION_BYTES, NUMBER_BYTES) }
      : undefined,
  );
}

function decodeListCursor(feedId: string, cursor: string): Decoded<string> {
  return decode(LIST, feedId, cursor, (bytes) => {
    const text = bytes.toString('utf8', HEAD_BYTES);
    // Postgres refuses a zero byte in a text; bytes that are not UTF-8 do not survive decoding.
    return text.includes('\0') || !Buffer.from(text).equals(bytes.subarray(HEAD_BYTES)) ? undefined : text;
  });
}

function start(kind: number, feedId: string, size: number, fill: (bytes: Buffer) => void): string {
  const bytes = Buffer.alloc(HEAD_BYTES + size);
  bytes[0] = kind;
  bytes.write(feedId, 1, FEED_ID_BYTES, 'hex');
  fill(bytes);
  return bytes.toString('base64url');
}

function decode<T>(kind: number, feedId: string, cursor: string, read: (bytes: Buffer) => T | undefined): Decoded<T> {
  const bytes = Buffer.from(cursor, 'base64url');
  // The decoder skips characters that it does not know: only what encodes to the same text is a cursor.
  if (bytes.length < HEAD_BYTES || bytes[0] !== kind || bytes.toString('base64url') !== cursor) {
    return { fault: 'onleesbaar' };
  }
  if (bytes.toString('hex', 1, HEAD_BYTES) !== feedId) return { fault: 'andere-feed' };
  const position = read(bytes);
  return position === undefined ? { fault: 'onleesbaar' } : { position };
}

function writePosition(bytes: Buffer, offset: number, { sequenceNumber, epoch }: FeedPosition): void {
  bytes.writeUIntBE(sequenceNumber, offset, NUMBER_BYTES);
  bytes.writeInt32BE(epoch, offset + NUMBER_BYTES);
}

function readPosition(bytes: Buffer, offset: number): FeedPosition {
  return { sequenceNumber: bytes.readUIntBE(offset, NUMBER_BYTES), epoch: bytes.readInt32BE(offset + NUMBER_BYTES) };
}

const REASONS = {
  onleesbaar: 'is geen cursor die hier gegeven is',
  'andere-feed': 'is niet van deze feed',
  'voor-de-geschiedenis': 'ligt voor de geschiedenis die bewaard is',
  'verder-dan-de-feed': 'ligt verder dan deze feed is',
  'andere-geschiedenis': 'is van een geschiedenis die deze feed niet meer heeft',
} as const satisfies Record<CursorFault | string, string>;

/** The problem of a cursor, or of a `Last-Event-ID`, that cannot be used; it says where to start again. */
export function invalidCursor(why: keyof typeof REASONS, name: 'cursor' | 'Last-Event-ID' = 'cursor'): Problem {
  const reason = REASONS[why];
  return new Problem(raadsfeedProblems.invalidCursor, {
    detail: `De plaats in \`${name}\` ${reason}. Begin opnieuw bij /snapshot.`,
    invalidParams: [{ name, code: why, reason }],
  });
}

/**
 * The position that a request begins after: that of its cursor, or the beginning of the history. A cursor that is ahead of what this
 * instance knows refreshes the head first. The epoch is checked with what was read (`assertSameEpoch`).
 * @throws {Problem} `ongeldige-cursor`; or what reading the head throws
 */
export async function resolveCursor(
  heads: HeadCache,
  cursor: string | undefined,
): Promise<{ position: FeedPosition; head: FeedHead }> {
  const head = await heads.head();
  if (cursor === undefined) return { position: head.historyAfter, head };
  const decoded = decodeFeedCursor(head.feedId, cursor);
  if ('fault' in decoded) throw invalidCursor(decoded.fault);
  const { position } = decoded;
  return { position, head: await resolveNumber(heads, position.sequenceNumber) };
}

/** Where a list that is sorted by text continues: after this one, the empty one at its beginning. @throws {Problem} `ongeldige-cursor` */
export async function resolveListCursor(
  heads: HeadCache,
  cursor: string | undefined,
): Promise<{ feedId: string; after: string }> {
  const { feedId } = await heads.head();
  if (cursor === undefined) return { feedId, after: '' };
  const decoded = decodeListCursor(feedId, cursor);
  if ('fault' in decoded) throw invalidCursor(decoded.fault);
  return { feedId, after: decoded.position };
}

/**
 * A head that a number lies within.
 * @throws {Problem} `ongeldige-cursor`; or what reading the head throws
 */
export async function resolveNumber(
  heads: HeadCache,
  sequenceNumber: number,
  name: 'cursor' | 'Last-Event-ID' = 'cursor',
): Promise<FeedHead> {
  const head = await heads.headAtLeast(sequenceNumber);
  assertInRange(head, sequenceNumber, name);
  return head;
}

/** @throws {Problem} `ongeldige-cursor` when the number was pruned or is not there yet */
export function assertInRange(
  { head, historyAfter }: FeedHead,
  sequenceNumber: number,
  name: 'cursor' | 'Last-Event-ID' = 'cursor',
): void {
  if (sequenceNumber > head.sequenceNumber) throw invalidCursor('verder-dan-de-feed', name);
  if (sequenceNumber < historyAfter.sequenceNumber) throw invalidCursor('voor-de-geschiedenis', name);
}

/**
 * @param found the epoch of the record at the position; needed unless the position is one of the two ends of the feed
 * @throws {Problem} `ongeldige-cursor` when the number was given again since
 */
export function assertSameEpoch(
  { head, historyAfter }: FeedHead,
  { sequenceNumber, epoch }: FeedPosition,
  found?: number,
): void {
  const ends = [head, historyAfter].find((end) => end.sequenceNumber === sequenceNumber);
  if ((ends?.epoch ?? found) !== epoch) throw invalidCursor('andere-geschiedenis');
}
