import { invalidCursor } from './cursor-problem.ts';
import {
  decodeSnapshotCursor,
  encodeFeedCursor,
  encodeSnapshotCursor,
  type SnapshotPosition,
} from './domain/cursor.ts';
import { joinRecords } from './domain/record-text.ts';
import type { FeedPageSource, FeedQuery } from './feed-page.ts';
import { checkMark, within } from './find-place.ts';
import type { FeedRow } from './store/read-feed-row.ts';
import { readSnapshot } from './store/read-snapshot.ts';

export interface SnapshotPage {
  readonly records: string;
  /** How the feed stood before the first row was read. */
  readonly feed: FeedRow;
  readonly feedCursor: string;
  /** `null` on the last page. */
  readonly cursor: string | null;
}

/**
 * A page of the current state. The place in the feed is fixed before the first row is read, and travels in the cursor.
 * @throws {Problem} `ongeldige-cursor`
 */
export async function readSnapshotPage(source: FeedPageSource, query: FeedQuery): Promise<SnapshotPage> {
  const { db, state, mountUrl } = source;
  const { row, position } = await findPosition(source, query.cursor);
  const { feed, after } = position;
  const { found, isCut } = await readSnapshot(db, after, feed.sequenceNumber, query.limit + 1, query);
  // What is not there any more the feed tells of after this page.
  await state.afresh();
  const records = found.slice(0, query.limit);
  const last = records.at(-1);
  const hasMore = (found.length > records.length || isCut) && last !== undefined;
  const url = mountUrl();
  return {
    records: joinRecords(records, url),
    feed: row,
    feedCursor: encodeFeedCursor(row.feedId, feed),
    cursor: hasMore ? encodeSnapshotCursor(row.feedId, { feed, after: last.sequenceNumber }) : null,
  };
}

async function findPosition({ db, state }: FeedPageSource, cursor: string | undefined) {
  const known = await state.current();
  if (cursor === undefined) {
    const position: SnapshotPosition = { feed: known.head, after: 0 };
    return { row: known, position };
  }
  const decoded = decodeSnapshotCursor(known.feedId, cursor);
  if ('fault' in decoded) throw invalidCursor(decoded.fault);
  const { position } = decoded;
  if (position.after > position.feed.sequenceNumber) throw invalidCursor('onleesbaar');
  within(known, position.feed.sequenceNumber);
  await checkMark(db, known, position.feed);
  return { row: known, position };
}
