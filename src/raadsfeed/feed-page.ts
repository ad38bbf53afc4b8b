/** A page of the feed: the records after a place, as bytes. */
import type { Db } from '../kernel/database/db.ts';
import { invalidCursor } from './cursor-problem.ts';
import type { FeedPosition } from './domain/cursor.ts';
import { joinRecord } from './domain/record-text.ts';
import type { FeedState } from './feed-state.ts';
import { checkMark, findPlace, knownMark } from './find-place.ts';
import type { PageRecords, PageStore } from './pages/page-store.ts';
import type { FeedRow } from './store/read-feed-row.ts';
import { type RecordFilter, readFiltered, readRange, type StoredRecord } from './store/read-records.ts';

export interface FeedQuery extends RecordFilter {
  readonly cursor?: string | undefined;
  readonly limit: number;
}

export interface FeedPage {
  readonly page: PageRecords;
  /** How the feed stood when the page was read. */
  readonly feed: FeedRow;
  readonly hasMore: boolean;
}

export interface FeedPageSource {
  readonly db: Db;
  readonly state: FeedState;
  readonly pages: PageStore;
  /** Address of the mount, without a trailing slash. */
  readonly mountUrl: () => string;
}

/** @throws {Problem} `ongeldige-cursor` */
export async function readFeedPage(source: FeedPageSource, query: FeedQuery): Promise<FeedPage> {
  const { pages } = source;
  const { place, feed } = await findPlace(source.state, query.cursor);
  const key = `${place.sequenceNumber} ${query.limit} ${query.organisatiecode ?? ''} ${query.resourceType ?? ''}`;
  let page = pages.get(key);
  if (page === undefined) page = pages.keep(key, feed.redactions, await read(source, feed, place, query));
  // A kept page holds no more than this feed has: it is full, and history does not change.
  else if (page.from.merk !== place.merk) throw invalidCursor('andere-geschiedenis');
  return { page, feed, hasMore: page.last.sequenceNumber < feed.head.sequenceNumber };
}

async function read(source: FeedPageSource, feed: FeedRow, from: FeedPosition, query: FeedQuery): Promise<PageRecords> {
  const { db, mountUrl } = source;
  const { records, last, isFull } =
    query.organisatiecode === undefined && query.resourceType === undefined
      ? await readAll(db, feed, from, query.limit)
      : await readSome(db, feed, from, query);
  const url = mountUrl();
  const text = `{"records":[${records.map((record) => joinRecord(record, url)).join(',')}]`;
  return { bytes: Buffer.from(text), from, last, isFull };
}

async function readAll(db: Db, feed: FeedRow, from: FeedPosition, limit: number) {
  const upTo = Math.min(from.sequenceNumber + limit, feed.head.sequenceNumber);
  const atEnd = upTo === from.sequenceNumber;
  const known = knownMark(feed, from.sequenceNumber);
  const { records, merk } =
    atEnd && known !== undefined ? { records: [], merk: known } : await readRange(db, from.sequenceNumber, upTo);
  if ((known ?? merk) !== from.merk) throw invalidCursor('andere-geschiedenis');
  return { records, last: positionOf(records) ?? from, isFull: records.length === limit };
}

async function readSome(db: Db, feed: FeedRow, from: FeedPosition, { limit, ...filter }: FeedQuery) {
  await checkMark(db, feed, from);
  const head = feed.head.sequenceNumber;
  const records = await readFiltered(db, from.sequenceNumber, head, limit, filter);
  // Less than was asked for: everything up to the head was looked at.
  const last = records.length < limit ? feed.head : (positionOf(records) ?? feed.head);
  return { records, last, isFull: records.length === limit };
}

function positionOf(records: readonly StoredRecord[]): FeedPosition | undefined {
  const last = records.at(-1);
  return last && { sequenceNumber: last.sequenceNumber, merk: last.merk };
}
