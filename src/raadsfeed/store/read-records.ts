/**
 * Reads of records. Each returns how the feed stood in the same statement, so that the end of a page follows from what was read and from nothing
 * that another database knows. A thousand records of four megabytes would be more than the process can hold: a read ends with the record that
 * brings it to `PAGE_OCTETS`.
 */
import type { Db } from '../../database/transaction.ts';
import type { RecordText } from '../domain/record-text.ts';
import type { ResourceType } from '../domain/resource.ts';
import { FEED_HEAD, type FeedHead, toFeedHead } from './feed-row.ts';

/** Less than an aggregator accepts of a source in one answer. */
export const PAGE_OCTETS = 16 * 1024 * 1024;

/** How much a read may bring: it ends with the record that reaches `page`, and before one whose content makes it larger than `record`. */
export interface OctetLimits {
  readonly page: number;
  readonly record: number;
}

/** No text is longer. */
const PAGE: OctetLimits = { page: PAGE_OCTETS, record: 2 ** 31 - 1 };

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

/** A record as it is stored: text, never parsed when it is served. */
export interface StoredRecord extends RecordText {
  readonly sequenceNumber: number;
  readonly epoch: number;
}

/** Which records are wanted; absent: all. */
export interface RecordFilter {
  readonly organisatiecode?: string | undefined;
  readonly resourceType?: ResourceType | undefined;
}

export interface SparseRead extends Read {
  readonly records: readonly StoredRecord[];
  /** Everything up to the head of this read was read. */
  readonly isAll: boolean;
  /** Of the position that was asked for; `undefined` when it has no record. */
  readonly epoch: number | undefined;
}

/**
 * The first `limit` records after a number that pass the filter, or as many as the octets allow. Without a filter every number after it is
 * one of them; else an index gives their numbers first.
 * @throws {MissingNumberError} when a number is missing that should be there
 */
export async function readFiltered(
  db: Db,
  after: number,
  limit: number,
  { organisatiecode, resourceType }: RecordFilter,
  octets = PAGE,
): Promise<SparseRead & { large: number | undefined }> {
  // A statement for each filter, so that it has the plan of its own index.
  const filters = [
    ['organisation', 'organisatiecode', organisatiecode],
    ['type', 'resource_type', resourceType],
  ].filter(([, , value]) => value !== undefined);
  const conditions = filters.map(([, column], i) => `and ${column} = $${3 + i}::text`);
  const found =
    filters.length === 0
      ? undefined
      : await findNumbers(db, {
          name: ['raadsfeed-filtered', ...filters.map(([name]) => name)].join('-'),
          numbers: `select sequence_number from raadsfeed.record
                     where sequence_number > $1::bigint ${conditions.join(' ')}
                     order by sequence_number
                     limit $2::integer`,
          values: [after, limit, ...filters.map(([, , value]) => value)],
        });
  const numbers = found?.numbers ?? Array.from({ length: limit }, (_, i) => after + i + 1);
  const read = await readTexts(db, numbers, after, octets);
  const head = found === undefined ? read.head : joinHeads(found.head, read.head);
  const wanted = found === undefined ? Math.min(limit, head.head.sequenceNumber - after) : numbers.length;
  if (read.found < wanted && after >= head.historyAfter.sequenceNumber)
    throw new MissingNumberError(numbers.find((number) => !read.texts.has(number)) ?? after);
  return {
    ...{ head, epoch: read.epoch, large: read.large },
    records: [...read.texts.values()],
    isAll: !read.isCut && read.found < limit,
  };
}

/**
 * The first `limit` resources of the current state whose record is after `after` and not after `upTo`, in the order of the feed, or as
 * many as `PAGE_OCTETS` allow.
 * What changes while a snapshot is read gets a higher number than `upTo`, so it is not here any more, and the feed after `upTo` has it.
 * @param upTo position of the snapshot: `epoch` is that of the record there
 */
export async function readSnapshot(
  db: Db,
  after: number,
  upTo: number,
  limit: number,
  { organisatiecode, resourceType }: RecordFilter,
): Promise<SparseRead> {
  const types = resourceType === undefined ? ['Vergadering', 'Agendapunt', 'Informatieobject'] : [resourceType];
  const found = await findNumbers(db, {
    name: `raadsfeed-snapshot${organisatiecode === undefined ? '' : '-organisation'}`,
    numbers: `select sequence_number from raadsfeed.current_records
               where sequence_number > $1::bigint and sequence_number <= $2::bigint
                 and resource_type = any ($4::text[])${organisatiecode === undefined ? '' : ' and organisatiecode = $5::text'}
               order by sequence_number
               limit $3::integer`,
    values: [after, upTo, limit, types, ...(organisatiecode === undefined ? [] : [organisatiecode])],
  });
  const { head, texts, epoch, isCut } = await readTexts(db, found.numbers, upTo);
  return {
    head: joinHeads(found.head, head),
    // A record that was replaced, pruned or redacted between the two statements has a later record in the feed, after `upTo`.
    records: found.numbers.flatMap((number) => texts.get(number) ?? []).filter(({ suffix }) => suffix !== null),
    isAll: !isCut && found.numbers.length < limit,
    epoch,
  };
}

/** The head that the first of two statements saw, with the redactions and the beginning of the history that the second one saw. */
export function joinHeads(first: FeedHead, second: FeedHead): FeedHead {
  return { ...second, head: first.head };
}

interface Numbers {
  readonly name: string;
  /** A select of numbers in order. */
  readonly numbers: string;
  readonly values: readonly unknown[];
}

async function findNumbers(db: Db, { name, numbers, values }: Numbers): Promise<Read & { numbers: number[] }> {
  const { rows } = await db.query<{ head: string | null; number: number | null }>({
    name,
    text: `(select ${FEED_HEAD} as head, null::bigint as number from raadsfeed.feed) union all (select null, n.* from (${numbers}) n)`,
    values: [...values],
  });
  return {
    head: toFeedHead(rows[0]?.head),
    numbers: rows.flatMap(({ number }) => number ?? []),
  };
}

interface TextsRead extends Read {
  readonly texts: ReadonlyMap<number, StoredRecord>;
  /** Of the number `beside`; `undefined` when it has no record. */
  readonly epoch: number | undefined;
  /** The read ended because of its octets: the later numbers are not in it. */
  readonly isCut: boolean;
  /** The number after those that were read, when its record is larger than a record may be. */
  readonly large: number | undefined;
  /** How many of the numbers have a text, those beyond the limit of octets too. */
  readonly found: number;
}

interface TextRow {
  /** The head of the feed where there is no number; `null` for a large record. */
  readonly prefix: string | null;
  readonly suffix: string | null;
  readonly epoch: number | null;
  readonly number: number | null;
  readonly found: number;
}

/** The texts of these numbers, in their order as many as the octets allow; and the epoch of one more, `beside`. */
export async function readTexts(
  db: Db,
  numbers: readonly number[],
  beside?: number,
  octets = PAGE,
): Promise<TextsRead> {
  const [least = 0] = numbers;
  const isRange = numbers.every((number, i) => number === least + i);
  const columns = `sequence_number, epoch, record_prefix, record_suffix, octet_length(record_prefix) + coalesce(octet_length(record_suffix), 0) as octets`;
  const range = 'sequence_number >= $1::bigint and sequence_number <= $2::bigint';
  // The bounds open only the partitions between them. Lookups one by one: numbers may lie far apart.
  const source = isRange
    ? `select sequence_number as position, ${columns} from raadsfeed.texts where ${range}`
    : `select n.position, t.* from unnest($6::bigint[]) with ordinality as n (number, position)
        cross join lateral (select ${columns} from raadsfeed.texts where sequence_number = n.number and ${range} offset 0) t`;
  const { rows } = await db.query<TextRow>({
    // Without a name: planned for its numbers each time. The sizes are known without the texts.
    text: `(select ${FEED_HEAD} as prefix, null as suffix,
                   (select epoch from raadsfeed.texts where sequence_number = $5::bigint) as epoch, null::bigint as number,
                   null::bigint as found
              from raadsfeed.feed)
           union all
           (select case when octets <= $4::integer or record_suffix is null then record_prefix end, case when octets <= $4::integer then record_suffix end,
                   epoch, sequence_number, found
              from (select t.*, count(*) over () as found, sum(octets) over (order by position) - octets as before from (${source}) t) read
             where before < $3::bigint
             order by position)`,
    values: [
      ...[numbers.reduce((a, b) => Math.min(a, b), least), numbers.reduce((a, b) => Math.max(a, b), 0)],
      ...[octets.page, octets.record, beside ?? null],
      ...(isRange ? [] : [numbers]),
    ],
  });
  const [first, ...rest] = rows;
  const texts = new Map<number, StoredRecord>();
  let large: number | undefined;
  for (const { prefix, suffix, epoch, number } of rest) {
    if (number === null) continue;
    if (prefix === null) {
      large = number;
      break;
    }
    texts.set(number, { sequenceNumber: number, epoch: epoch ?? 0, prefix, suffix });
  }
  const found = rest[0]?.found ?? 0;
  return {
    ...{ head: toFeedHead(first?.prefix), texts, large, found, epoch: first?.epoch ?? undefined },
    isCut: texts.size < found,
  };
}
