/** A page of the feed: the records after a place, as bytes. */
import type { Db } from '../kernel/database/db.ts';
import { invalidCursor } from './cursor-problem.ts';
import type { FeedPosition } from './domain/cursor.ts';
import { joinRecord } from './domain/record-text.ts';
import type { FeedState } from './feed-state.ts';
import { checkMark, findPlace, knownMark, within } from './find-place.ts';
import type { PageBounds, PageRecords, PageStore } from './pages/page-store.ts';
import type { FeedRow } from './store/read-feed-row.ts';
import { readRange } from './store/read-range.ts';
import { type RecordFilter, readFiltered } from './store/read-records.ts';

export interface FeedQuery extends RecordFilter {
  readonly cursor?: string | undefined;
  readonly limit: number;
}

export interface FeedPage extends PageBounds {
  /** Kept from an earlier request; or absent, and then `records` are there. */
  readonly kept: PageRecords | undefined;
  /** Read just now. */
  readonly records: readonly string[];
  /** How the feed stood when the page was read. */
  readonly feed: FeedRow;
  readonly hasMore: boolean;
  /** Keeps the bytes of the records (`{"records":[…]`) for the next who asks, when they will be the same. */
  keep(bytes: Buffer): void;
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
  const { place: from, feed } = await findPlace(source.state, query.cursor);
  const head = feed.head.sequenceNumber;
  const age = pages.age();
  const key = `${from.sequenceNumber} ${query.limit} ${query.organisatiecode ?? ''} ${query.resourceType ?? ''}`;
  const kept = pages.get(key);
  if (kept !== undefined) {
    if (kept.from.merk !== from.merk) throw invalidCursor('andere-geschiedenis');
    const { last } = kept;
    return { kept, records: [], from, last, feed, hasMore: last.sequenceNumber < head, keep: () => undefined };
  }
  const isWhole = query.organisatiecode === undefined && query.resourceType === undefined;
  const { records, last } = isWhole
    ? await readAll(source, feed, from, query.limit)
    : await readSome(source, feed, from, query);
  return {
    kept,
    records,
    from,
    last,
    feed,
    hasMore: last.sequenceNumber < head,
    keep: (bytes) => {
      // A full page is the same for ever; the page that reaches the head is not.
      if (records.length === query.limit || last.sequenceNumber < head) pages.keep(key, age, { bytes, from, last });
    },
  };
}

interface Found {
  readonly records: readonly string[];
  readonly last: FeedPosition;
}

async function readAll(
  { db, mountUrl }: FeedPageSource,
  feed: FeedRow,
  from: FeedPosition,
  limit: number,
): Promise<Found> {
  const after = from.sequenceNumber;
  const upTo = Math.min(after + limit, feed.head.sequenceNumber);
  const known = knownMark(feed, after);
  if (upTo === after && known !== undefined) {
    if (known !== from.merk) throw invalidCursor('andere-geschiedenis');
    return { records: [], last: from };
  }
  const range = await readRange(db, { after, upTo, mountUrl: mountUrl() });
  if (range === undefined) throw invalidCursor('voor-de-geschiedenis');
  const { records, merk, lastMerk } = range;
  if ((known ?? merk) !== from.merk) throw invalidCursor('andere-geschiedenis');
  return { records, last: { sequenceNumber: after + records.length, merk: lastMerk } };
}

async function readSome(
  { db, state, mountUrl }: FeedPageSource,
  feed: FeedRow,
  from: FeedPosition,
  { limit, ...filter }: FeedQuery,
): Promise<Found> {
  await checkMark(db, feed, from);
  const { found: texts, isCut } = await readFiltered(db, from.sequenceNumber, feed.head.sequenceNumber, limit, filter);
  // With a filter nobody sees from the numbers that some were pruned away between the look at the feed and the read.
  within(await state.current(), from.sequenceNumber);
  const end = texts.at(-1);
  // Less than was asked for: everything up to the head was looked at.
  const { sequenceNumber, merk } = end === undefined || (texts.length < limit && !isCut) ? feed.head : end;
  const url = mountUrl();
  return { records: texts.map((text) => joinRecord(text, url)), last: { sequenceNumber, merk } };
}
