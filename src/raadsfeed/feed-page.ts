/** A page of the feed: the records after a place, as bytes. */
import type { Db } from '../kernel/database/db.ts';
import { invalidCursor } from './cursor-problem.ts';
import { encodeFeedCursor, type FeedPosition } from './domain/cursor.ts';
import { joinRecord } from './domain/record-text.ts';
import type { FeedState } from './feed-state.ts';
import { checkMark, findPlace, knownMark } from './find-place.ts';
import type { FeedRow } from './store/read-feed-row.ts';
import { type RecordFilter, readFiltered, readMark, readRange } from './store/read-records.ts';

export interface FeedQuery extends RecordFilter {
  readonly cursor?: string | undefined;
  readonly limit: number;
}

export interface FeedPage {
  /** `{"records":[…]`: never changes for these records. */
  readonly records: string;
  readonly from: number;
  readonly cursor: string;
  readonly head: number;
  readonly hasMore: boolean;
  readonly redactions: number;
}

export interface FeedPageSource {
  readonly db: Db;
  readonly state: FeedState;
  /** Address of the mount, without a trailing slash. */
  readonly mountUrl: () => string;
}

/** @throws {Problem} `ongeldige-cursor` */
export async function readFeedPage({ db, state, mountUrl }: FeedPageSource, query: FeedQuery): Promise<FeedPage> {
  const { place, feed } = await findPlace(state, query.cursor);
  const { records, last } = await readAfter(db, feed, place, query);
  const url = mountUrl();
  return {
    records: `{"records":[${records.map((record) => joinRecord(record, url)).join(',')}]`,
    from: place.sequenceNumber,
    cursor: encodeFeedCursor(feed.feedId, last),
    head: feed.head.sequenceNumber,
    hasMore: last.sequenceNumber < feed.head.sequenceNumber,
    redactions: feed.redactions,
  };
}

async function readAfter(db: Db, feed: FeedRow, place: FeedPosition, { limit, ...filter }: FeedQuery) {
  const head = feed.head.sequenceNumber;
  if (filter.organisatiecode === undefined && filter.resourceType === undefined) {
    const upTo = Math.min(place.sequenceNumber + limit, head);
    const { records, merk } = await readRange(db, place.sequenceNumber, upTo);
    if ((knownMark(feed, place.sequenceNumber) ?? merk) !== place.merk) throw invalidCursor('andere-geschiedenis');
    return { records, last: await positionAt(db, feed, upTo) };
  }
  await checkMark(db, feed, place);
  const records = await readFiltered(db, place.sequenceNumber, head, limit, filter);
  const lastNumber = records.length < limit ? head : (records.at(-1)?.sequenceNumber ?? head);
  return { records, last: await positionAt(db, feed, lastNumber) };
}

async function positionAt(db: Db, feed: FeedRow, sequenceNumber: number): Promise<FeedPosition> {
  const merk = knownMark(feed, sequenceNumber) ?? (await readMark(db, sequenceNumber));
  // Pruned or restored between two reads: the reader begins anew.
  if (merk === undefined) throw invalidCursor('voor-de-geschiedenis');
  return { sequenceNumber, merk };
}
