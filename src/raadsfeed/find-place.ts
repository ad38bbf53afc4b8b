import type { Db } from '../kernel/database/db.ts';
import { invalidCursor } from './cursor-problem.ts';
import { decodeFeedCursor, type FeedPosition } from './domain/cursor.ts';
import type { FeedState } from './feed-state.ts';
import type { FeedRow } from './store/read-feed-row.ts';
import { readMark } from './store/read-records.ts';

/** A place in this feed, with how the feed stood at a moment when the place was in it. */
export interface FoundPlace {
  readonly place: FeedPosition;
  readonly feed: FeedRow;
}

/**
 * Reads the cursor of a request: a position between the kept history and the head.
 * The mark of the place is not yet checked: that goes with the read of the page (`checkMark`).
 * @throws {Problem} `ongeldige-cursor`
 */
export async function findPlace(state: FeedState, cursor: string | undefined): Promise<FoundPlace> {
  const feed = await state.current();
  if (cursor === undefined) return { place: feed.historyAfter, feed };
  const decoded = decodeFeedCursor(feed.feedId, cursor);
  if ('fault' in decoded) throw invalidCursor(decoded.fault);
  within(feed, decoded.position.sequenceNumber);
  return { place: decoded.position, feed };
}

/**
 * Checks that a number is in the feed.
 * @throws {Problem} `ongeldige-cursor` when the number is pruned away, or still to come
 */
export function within(feed: FeedRow, sequenceNumber: number, name: 'cursor' | 'Last-Event-ID' = 'cursor'): void {
  if (sequenceNumber > feed.head.sequenceNumber) throw invalidCursor('verder-dan-de-feed', name);
  if (sequenceNumber < feed.historyAfter.sequenceNumber) throw invalidCursor('voor-de-geschiedenis', name);
}

/** The mark of a place when it needs no look in the database: the two ends of the feed. */
export function knownMark(feed: FeedRow, sequenceNumber: number): number | undefined {
  if (sequenceNumber === feed.head.sequenceNumber) return feed.head.merk;
  if (sequenceNumber === feed.historyAfter.sequenceNumber) return feed.historyAfter.merk;
  return undefined;
}

/**
 * Checks that a cursor is of the history that this feed has now.
 * @throws {Problem} `ongeldige-cursor` when the number was given anew since
 */
export async function checkMark(db: Db, feed: FeedRow, { sequenceNumber, merk }: FeedPosition): Promise<void> {
  const found = knownMark(feed, sequenceNumber) ?? (await readMark(db, sequenceNumber));
  if (found !== merk) throw invalidCursor('andere-geschiedenis');
}
