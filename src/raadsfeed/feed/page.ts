/** Pages of the feed, and of its current state (the snapshot). */
import { joinRecord, joinRecords } from '../domain/record-text.ts';
import type { FeedHead, FeedPosition } from '../store/feed-row.ts';
import { MissingNumberError, readRange } from '../store/read-log.ts';
import { type RecordFilter, readFiltered, readSnapshot } from '../store/read-texts.ts';
import { type CompressedEncoding, closeBody } from './compression.ts';
import {
  assertInRange,
  assertSameEpoch,
  decodeSnapshotCursor,
  encodeFeedCursor,
  encodeSnapshotCursor,
  invalidCursor,
  resolveCursor,
  resolveNumber,
} from './cursor.ts';
import type { FeedReader, HeadCache } from './head.ts';
import type { PageCache } from './response-cache.ts';

export interface FeedQuery extends RecordFilter {
  readonly cursor?: string | undefined;
  readonly limit: number;
}

export interface PageSource {
  readonly heads: HeadCache;
  readonly reader: FeedReader;
  readonly pages: PageCache;
  /** Address of the mount, without a trailing slash. */
  readonly mountUrl: () => string;
}

export interface FeedPage {
  readonly from: FeedPosition;
  readonly last: FeedPosition;
  /** How the feed stood when the page was read, or a moment ago when it was in memory. */
  readonly head: FeedHead;
  readonly hasMore: boolean;
  /** Of its records. */
  readonly bytes: number;
  /** The page with what follows its records; a full one is cached. */
  body(end: string): Buffer;
  /** The same compressed, from the cache; absent for a page that was not in it. */
  readonly compressed: ((encoding: CompressedEncoding, end: string) => Promise<Buffer>) | undefined;
}

/** @throws {Problem} `ongeldige-cursor` */
export async function readFeedPage(source: PageSource, query: FeedQuery): Promise<FeedPage> {
  const { heads, pages } = source;
  const { position: from, head: known } = await resolveCursor(heads, query.cursor);
  const key = `${from.sequenceNumber} ${query.limit} ${query.organisatiecode ?? ''} ${query.resourceType ?? ''}`;
  const cached = pages.get(key);
  if (cached !== undefined) {
    const { last, bytes } = cached;
    if (cached.from.epoch !== from.epoch) throw invalidCursor('andere-geschiedenis');
    // It may come from a replica that knew more than this instance.
    const head = await heads.headAtLeast(last.sequenceNumber);
    return {
      ...{ from, last, head, hasMore: last.sequenceNumber < head.head.sequenceNumber, bytes: bytes.length },
      body: (end) => Buffer.concat([bytes, Buffer.from(end)]),
      compressed: async (encoding, end) => closeBody(await cached.compressed(encoding), Buffer.from(end)),
    };
  }
  const found = await readRecords(source, known, from, query).catch((error: unknown) => {
    // A client must not read past a hole; the snapshot has what is current.
    throw error instanceof MissingNumberError ? invalidCursor('voor-de-geschiedenis') : error;
  });
  const { records, last, head, epoch } = found;
  if (query.cursor === undefined && from.sequenceNumber < head.historyAfter.sequenceNumber) {
    // The history began elsewhere when the rows were read.
    await heads.refreshHead();
    return readFeedPage(source, query);
  }
  assertInRange(head, from.sequenceNumber);
  assertSameEpoch(head, from, epoch);
  const hasMore = last.sequenceNumber < head.head.sequenceNumber;
  // A full page is the same for ever; the page that reaches the head is not.
  const isFull = records.length === query.limit || hasMore;
  return {
    ...{ from, last, head, hasMore, bytes: records.reduce((sum, record) => sum + record.length, 0) },
    body(end) {
      const bytes = pageBytes(records, end);
      if (isFull && heads.isCurrentHistory(head)) {
        const ofRecords = bytes.subarray(0, bytes.length - Buffer.byteLength(end));
        pages.set(key, { from, last, bytes: ofRecords });
      }
      return bytes;
    },
    compressed: undefined,
  };
}

interface Found {
  readonly records: readonly string[];
  readonly last: FeedPosition;
  readonly head: FeedHead;
  /** Of the record at the position that the page begins after; `undefined` when there is none. */
  readonly epoch: number | undefined;
}

async function readRecords(
  { reader, mountUrl }: PageSource,
  known: FeedHead,
  from: FeedPosition,
  { limit, ...filter }: FeedQuery,
): Promise<Found> {
  const after = from.sequenceNumber;
  // A poll at the head costs the database nothing.
  if (after === known.head.sequenceNumber) {
    return { records: [], last: from, head: known, epoch: undefined };
  }
  const url = mountUrl();
  if (filter.organisatiecode === undefined && filter.resourceType === undefined) {
    const { records, epoch, lastEpoch, head } = await reader.read((db) => readRange(db, after, limit, url), after);
    const last = { sequenceNumber: after + records.length, epoch: lastEpoch ?? from.epoch };
    return { records, last: records.length === 0 ? from : last, head, epoch };
  }
  const { records, isAll, epoch, head } = await reader.read((db) => readFiltered(db, after, limit, filter), after);
  // Fewer than asked for: everything up to the head was read.
  const last = isAll ? head.head : (records.at(-1) ?? head.head);
  return {
    records: records.map((text) => joinRecord(text, url)),
    last: { sequenceNumber: last.sequenceNumber, epoch: last.epoch },
    head,
    epoch,
  };
}

const START = '{"records":[';
const COMMA = 0x2c;

/** Written record by record: to join the texts first would copy half a megabyte twice. */
function pageBytes(records: readonly string[], end: string): Buffer {
  const tail = `]${end}`;
  let size = START.length + Buffer.byteLength(tail) + Math.max(0, records.length - 1);
  for (const record of records) size += Buffer.byteLength(record);
  const bytes = Buffer.allocUnsafe(size);
  let at = bytes.write(START);
  for (const [i, record] of records.entries()) {
    if (i > 0) at = bytes.writeUInt8(COMMA, at);
    at += bytes.write(record, at);
  }
  bytes.write(tail, at);
  return bytes;
}

export interface SnapshotPage {
  readonly records: string;
  /** The head that the page holds for. */
  readonly head: FeedHead;
  readonly feedCursor: string;
  /** `null` on the last page. */
  readonly cursor: string | null;
}

/**
 * A page of the current state. The position in the feed is fixed before the first row is read, and travels in the cursor.
 * @throws {Problem} `ongeldige-cursor`
 */
export async function readSnapshotPage(source: PageSource, query: FeedQuery): Promise<SnapshotPage> {
  const { heads, reader, mountUrl } = source;
  const { feed, after } = await resolveSnapshot(heads, query.cursor);
  const { sequenceNumber } = feed;
  const found = await reader.read(
    (db) => readSnapshot(db, after, sequenceNumber, query.limit + 1, query),
    sequenceNumber,
  );
  assertInRange(found.head, feed.sequenceNumber);
  assertSameEpoch(found.head, feed, found.epoch);
  const records = found.records.slice(0, query.limit);
  const last = records.at(-1);
  const hasMore = !(found.isAll && found.records.length <= query.limit) && last !== undefined;
  const { feedId } = found.head;
  return {
    records: joinRecords(records, mountUrl()),
    // The position of a first page was fixed before its rows were read: once the head has moved on, the page is that of an earlier head.
    head: query.cursor === undefined ? { ...found.head, head: feed } : found.head,
    feedCursor: encodeFeedCursor(feedId, feed),
    cursor: hasMore ? encodeSnapshotCursor(feedId, { feed, after: last.sequenceNumber }) : null,
  };
}

async function resolveSnapshot(heads: HeadCache, cursor: string | undefined) {
  const { feedId, head } = await heads.head();
  if (cursor === undefined) return { feed: head, after: 0 };
  const decoded = decodeSnapshotCursor(feedId, cursor);
  if ('fault' in decoded) throw invalidCursor(decoded.fault);
  const { position } = decoded;
  if (position.after > position.feed.sequenceNumber) throw invalidCursor('onleesbaar');
  await resolveNumber(heads, position.feed.sequenceNumber);
  return position;
}
