import { isRecord } from '../../../kernel/outbound/is-record.ts';
import { SourceFault } from '../source-fault.ts';
import { sequenceNumberOf } from './checked-record.ts';

/** A record with its number, not judged further. */
export interface NumberedSourceRecord {
  readonly sequenceNumber: number;
  readonly record: unknown;
}

export interface FeedAnswer {
  readonly records: readonly NumberedSourceRecord[];
  readonly cursor: string;
  readonly head: number;
  /** Also true when its head is further than its last record: then it is not read to its end, whatever it says. */
  readonly hasMore: boolean;
}

export interface SnapshotAnswer {
  readonly records: readonly NumberedSourceRecord[];
  readonly feedCursor: string;
  /** `null` on the last page. */
  readonly cursor: string | null;
}

/** Longest cursor that is kept. */
const MAX_CURSOR = 4096;

/**
 * Reads a page of a source's feed.
 * @param place where the page was asked for; the number is `undefined` when only the cursor is known
 * @throws {SourceFault} when the page or its numbers cannot be believed
 */
export function readFeedAnswer(
  json: unknown,
  place: { readonly cursor: string; readonly sequenceNumber: number | undefined },
): FeedAnswer {
  const page = asPage(json);
  const { cursor, head, hasMore } = page;
  if (!isCursor(cursor)) throw new SourceFault('page', 'the page has no cursor');
  if (typeof hasMore !== 'boolean') throw new SourceFault('page', 'the page does not say hasMore');
  if (typeof head !== 'number' || !Number.isSafeInteger(head) || head < 0) {
    throw new SourceFault('page', 'the page has no head');
  }
  const records = numbered(page.records);
  let last = place.sequenceNumber;
  for (const { sequenceNumber } of records) {
    if (last !== undefined && sequenceNumber <= last) {
      throw new SourceFault('numbers', `number ${sequenceNumber} stands after ${last}`);
    }
    if (last !== undefined && sequenceNumber !== last + 1) {
      throw new SourceFault('numbers', `number ${sequenceNumber} stands after ${last}: there is a gap`);
    }
    last = sequenceNumber;
  }
  if (last !== undefined && head < last) throw new SourceFault('numbers', `head ${head} is before ${last}`);
  if (cursor === place.cursor && (hasMore || records.length > 0)) {
    throw new SourceFault('cursor-stands-still', 'the cursor did not move');
  }
  return { records, cursor, head, hasMore: hasMore || (last !== undefined && last < head) };
}

/**
 * Reads a page of a source's snapshot.
 * @param place the cursor that was asked with, and the `feedCursor` of the first page
 * @throws {SourceFault} when the page cannot be believed
 */
export function readSnapshotAnswer(
  json: unknown,
  place: { readonly cursor: string | null; readonly feedCursor: string | null },
): SnapshotAnswer {
  const page = asPage(json);
  const { cursor, feedCursor, hasMore } = page;
  if (!isCursor(feedCursor)) throw new SourceFault('page', 'the snapshot has no feedCursor');
  if (place.feedCursor !== null && feedCursor !== place.feedCursor) {
    throw new SourceFault('page', 'the feedCursor changed within a snapshot');
  }
  if (cursor !== null && !isCursor(cursor)) throw new SourceFault('page', 'the snapshot has no cursor');
  if (hasMore !== (cursor !== null)) throw new SourceFault('page', 'cursor and hasMore contradict each other');
  if (cursor !== null && cursor === place.cursor) {
    throw new SourceFault('cursor-stands-still', 'the cursor of the snapshot did not move');
  }
  return { records: numbered(page.records), feedCursor, cursor };
}

function asPage(json: unknown): Record<string, unknown> & { readonly records: readonly unknown[] } {
  if (!isRecord(json) || !Array.isArray(json.records))
    throw new SourceFault('page', 'the answer is no page of records');
  return { ...json, records: json.records };
}

function numbered(records: readonly unknown[]): NumberedSourceRecord[] {
  return records.map((record) => {
    const sequenceNumber = sequenceNumberOf(record);
    if (sequenceNumber === undefined) throw new SourceFault('numbers', 'a record has no sequenceNumber');
    return { sequenceNumber, record };
  });
}

function isCursor(value: unknown): value is string {
  return typeof value === 'string' && value !== '' && value.length <= MAX_CURSOR && !value.includes('\0');
}
