/**
 * Reads of the log in the order of its numbers. Each returns how the feed stood in the very same statement, so that the end of a page
 * follows from what was read and from nothing that another database knows.
 *
 * A page of a thousand records of four megabytes each would be more than the process can hold: a read ends with the record that brings it
 * to `PAGE_OCTETS`. Nearly every page is far below that, so the statement only checks that no record is large; when one is, the sizes are
 * read first.
 */
import type { Db } from '../../database/transaction.ts';
import type { RecordText } from '../domain/record-text.ts';
import type { ResourceType } from '../domain/resource.ts';
import { FEED_HEAD, type FeedHead, toFeedHead } from './feed-row.ts';

/** Less than an aggregator accepts of a source in one answer. */
export const PAGE_OCTETS = 16 * 1024 * 1024;
/** No text is longer. */
const NO_LIMIT = 2 ** 31 - 1;

/** A number that should be in the feed is not there: a restored backup, or a row that somebody deleted. */
export class MissingNumberError extends Error {
  constructor(sequenceNumber: number) {
    super(`number ${sequenceNumber} of the feed is missing`);
  }
}

/** What a read found, and how the feed stood in that statement. */
export interface Read {
  readonly head: FeedHead;
}

export interface RangeRead extends Read {
  /** Complete records, one for each number after the position, without a gap. */
  readonly records: readonly string[];
  /** Of the position itself; `undefined` when it has no record. */
  readonly epoch: number | undefined;
  readonly lastEpoch: number | undefined;
}

interface RangeRow {
  /** The head of the feed where there is no number; empty at the position itself; `null` for a large record. */
  readonly record: string | null;
  readonly epoch: number | null;
  readonly number: number | null;
}

/**
 * The first `limit` records after a position. The database joins the two pieces of each with the address of the mount: half as many texts
 * to read.
 * @returns fewer when there are no more, when they are large, or when the position was pruned away (`head.historyAfter` says so)
 * @throws {MissingNumberError} when a number is missing that should be there
 */
export async function readRange(db: Db, after: number, limit: number, mountUrl: string): Promise<RangeRead> {
  const read = await readRows(db, after, after + limit, mountUrl, Math.floor(PAGE_OCTETS / limit));
  if (read.rows.every(({ record }) => record !== null)) return toRange(read, after, after + limit);
  const upTo = lastThatFits(await readSizes(db, after, after + limit));
  return toRange(await readRows(db, after, upTo, mountUrl, NO_LIMIT), after, upTo);
}

async function readRows(db: Db, after: number, upTo: number, mountUrl: string, octets: number) {
  const { rows } = await db.query<RangeRow>({
    name: 'raadsfeed-range',
    text: `(select ${FEED_HEAD} as record, null::integer as epoch, null::bigint as number from raadsfeed.feed)
           union all
           (select case when sequence_number = $2::bigint then ''
                        when octet_length(kop) + coalesce(octet_length(rest), 0) > $4::integer then null
                        when rest is null then kop
                        else kop || $1::text || rest end,
                   merk, sequence_number
              from raadsfeed.tekst
             where sequence_number >= $2::bigint and sequence_number <= $3::bigint
             order by sequence_number)`,
    values: [mountUrl, after, upTo, octets],
  });
  const [first, ...rest] = rows;
  return { head: toFeedHead(first?.record), rows: rest };
}

function toRange(
  { head, rows }: { head: FeedHead; rows: readonly RangeRow[] },
  after: number,
  upTo: number,
): RangeRead {
  if (after < head.historyAfter.sequenceNumber) return { head, records: [], epoch: undefined, lastEpoch: undefined };
  const at = rows[0]?.number === after ? rows[0] : undefined;
  const records = at === undefined ? rows : rows.slice(1);
  assertNoGap(
    records.map(({ number }) => number),
    after,
    Math.min(upTo, head.head.sequenceNumber),
  );
  return {
    head,
    records: records.map(({ record }) => record ?? ''),
    epoch: at?.epoch ?? undefined,
    lastEpoch: rows.at(-1)?.epoch ?? undefined,
  };
}

/** A record with the members that streams filter by. */
export interface StoredEvent extends RecordText {
  readonly sequenceNumber: number;
  readonly organisatiecode: string;
  readonly resourceType: ResourceType;
}

/** How much a read may bring: it ends with the record that reaches `page`, and before one whose content makes it larger than `record`. */
export interface OctetLimits {
  readonly page: number;
  readonly record: number;
}

export interface EventsRead extends Read {
  readonly events: readonly StoredEvent[];
  /** The number after them, when its record is larger than a record may be. */
  readonly large: number | undefined;
}

interface EventRow {
  /** The head of the feed where there is no number; `null` for a large record. */
  readonly prefix: string | null;
  readonly suffix: string | null;
  readonly organisatiecode: string;
  readonly resource_type: ResourceType;
  readonly number: number | null;
  /** How many records there are, those beyond the limit of octets too. */
  readonly found: number;
}

/**
 * The first `limit` records after a number, for streams.
 * @returns as `readRange`
 * @throws {MissingNumberError} when a number is missing that should be there
 */
export async function readEvents(db: Db, after: number, limit: number, octets: OctetLimits): Promise<EventsRead> {
  const { rows } = await db.query<EventRow>({
    name: 'raadsfeed-events',
    // One lookup for each record: joined freely, the planner might read all of a partition. The sizes are known without the texts.
    text: `(select ${FEED_HEAD} as prefix, null as suffix, null as organisatiecode, null as resource_type, null::bigint as number,
                   null::bigint as found
              from raadsfeed.feed)
           union all
           (select case when octets <= $4::integer or rest is null then kop end, case when octets <= $4::integer then rest end,
                   organisatiecode, resource_type, sequence_number, found
              from (select r.sequence_number, r.organisatiecode, r.resource_type, t.kop, t.rest, t.octets, count(*) over () as found,
                           sum(t.octets) over (order by r.sequence_number) - t.octets as before
                      from raadsfeed.record r
                     cross join lateral (
                           select kop, rest, octet_length(kop) + coalesce(octet_length(rest), 0) as octets
                             from raadsfeed.tekst
                            where sequence_number = r.sequence_number
                              and sequence_number > $1::bigint and sequence_number <= $2::bigint
                           offset 0) t
                     where r.sequence_number > $1::bigint and r.sequence_number <= $2::bigint) read
             where before < $3::bigint
             order by sequence_number)`,
    values: [after, after + limit, octets.page, octets.record],
  });
  const [first, ...rest] = rows;
  const head = toFeedHead(first?.prefix);
  if (after < head.historyAfter.sequenceNumber) return { head, events: [], large: undefined };
  const found = rest[0]?.found ?? 0;
  assertNoGap(
    rest.map(({ number }) => number),
    after,
    rest.length < found ? after + rest.length : Math.min(after + limit, head.head.sequenceNumber),
  );
  const firstLarge = rest.findIndex(({ prefix }) => prefix === null);
  const events = rest
    .slice(0, firstLarge === -1 ? rest.length : firstLarge)
    .map(({ prefix, suffix, organisatiecode, resource_type: resourceType }, i) => ({
      ...{ sequenceNumber: after + i + 1, organisatiecode, resourceType },
      ...{ prefix: prefix ?? '', suffix },
    }));
  return { head, events, large: firstLarge === -1 ? undefined : after + firstLarge + 1 };
}

/** @throws {MissingNumberError} unless these are the numbers after one, up to and including the last */
function assertNoGap(numbers: readonly (number | null)[], after: number, last: number): void {
  const gap = numbers.findIndex((number, i) => number !== after + i + 1);
  if (gap !== -1) throw new MissingNumberError(after + gap + 1);
  if (after + numbers.length < last) throw new MissingNumberError(after + numbers.length + 1);
}

interface Size {
  readonly number: number;
  readonly octets: number;
}

async function readSizes(db: Db, after: number, upTo: number): Promise<Size[]> {
  const { rows } = await db.query<Size>({
    name: 'raadsfeed-sizes',
    text: `select sequence_number as number, octet_length(kop) + coalesce(octet_length(rest), 0) as octets
             from raadsfeed.tekst
            where sequence_number > $1::bigint and sequence_number <= $2::bigint
            order by sequence_number`,
    values: [after, upTo],
  });
  return rows;
}

/** The number of the record that brings a page to `PAGE_OCTETS`, or of the last one. */
function lastThatFits(sizes: readonly Size[]): number {
  let sum = 0;
  for (const { number, octets } of sizes) {
    sum += octets;
    if (sum >= PAGE_OCTETS) return number;
  }
  return sizes.at(-1)?.number ?? 0;
}
