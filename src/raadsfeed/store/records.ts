/**
 * The feed's one row, which writers lock, and reads of records. Each read returns the state of the feed as of the same statement, so that the end of
 * a page depends only on that read; it ends with the record that brings it to `PAGE_OCTETS`, because a thousand records may be 4 GB.
 * @see docs/decisions/0023-every-read-returns-the-head.md
 */
import type { operations } from '../../contracts/raadsfeed.ts';
import type { Db } from '../../database/transaction.ts';
import { normaliseOrganisatiecode } from '../../lib/feed/resource.ts';
import type { Change } from '../domain/change.ts';
import type { RecordText } from '../domain/record-text.ts';

/** The channel on which every instance hears that the feed has changed; the payload is the new `FEED_STATE`. */
export const FEED_CHANNEL = 'raadsfeed';

export interface FeedPosition {
  readonly sequenceNumber: number;
  /** Of the record with that number: a number that is issued again, after a restored backup, has another epoch. */
  readonly epoch: number;
}

/** The state of the feed: what readers depend on, and nothing of its records. */
export interface FeedState {
  readonly feedId: string;
  readonly head: FeedPosition;
  /** Everything up to and including this position was pruned; a cursor may be exactly here. */
  readonly historyAfter: FeedPosition;
  /** Grows with every change of readable content: data in memory is valid for one value of it. */
  readonly redactions: number;
}

export interface FeedRow extends FeedState {
  readonly historieVanaf: Date;
  readonly lastStoredAt: Date | null;
  /** Every number below this one has a partition for its text. */
  readonly partitionedTo: number;
  /** A proof log is kept of the feed: nothing may be published without an entry in it. */
  readonly hasProof: boolean;
}

/** A `FeedState` as text, for a select from `raadsfeed.feed`: one column of a read, and the payload of a notification. */
export const FEED_STATE = `concat_ws(' ', encode(feed_id, 'hex'), head, head_epoch, history_after, history_after_epoch, redactions)`;

export function parseFeedState(text: string): FeedState | undefined {
  const found = /^([0-9a-f]{16}) (\d{1,16}) (-?\d{1,10}) (\d{1,16}) (-?\d{1,10}) (\d{1,16})$/.exec(text);
  if (found === null) return undefined;
  const [, feedId = '', head, epoch, after, afterEpoch, redactions] = found;
  return {
    feedId,
    head: { sequenceNumber: Number(head), epoch: Number(epoch) },
    historyAfter: { sequenceNumber: Number(after), epoch: Number(afterEpoch) },
    redactions: Number(redactions),
  };
}

/** @throws {Error} when the text is not a `FEED_STATE` */
export function toFeedState(text: string | null | undefined): FeedState {
  const state = parseFeedState(text ?? '');
  if (state === undefined) throw new Error('the feed has no row; was the database migrated?');
  return state;
}

const ROW = `select ${FEED_STATE} as state, history_from as "historieVanaf", last_stored_at as "lastStoredAt", partitioned_to as "partitionedTo",
  exists (select from proof.logs where log = 'raadsfeed') as "hasProof" from raadsfeed.feed`;

type Row = Omit<FeedRow, keyof FeedState> & { readonly state: string };

export async function readFeedRow(db: Db): Promise<FeedRow> {
  const { rows } = await db.query<Row>({ name: 'raadsfeed-feed', text: ROW });
  return toFeedRow(rows[0]);
}

/** Locks the row, as every writer does: until the end of the transaction no other writer assigns numbers. */
export async function lockFeedRow(db: Db): Promise<FeedRow> {
  const { rows } = await db.query<Row>({ name: 'raadsfeed-feed-lock', text: `${ROW} for update` });
  return toFeedRow(rows[0]);
}

function toFeedRow(row: Row | undefined): FeedRow {
  if (row === undefined) throw new Error('the feed has no row; was the database migrated?');
  const { state, ...rest } = row;
  return { ...rest, ...toFeedState(state) };
}

const HEAD = 'head = $1::bigint, head_epoch = $2::integer, last_stored_at = $3::timestamptz';
const BEGINNING = 'history_after = $1::bigint, history_after_epoch = $2::integer, history_from = $3::timestamptz';

/** @param redactions among the records that were published */
export async function moveHead(db: Db, head: FeedPosition, storedAt: Date, redactions: number): Promise<void> {
  await move(db, HEAD, [head.sequenceNumber, head.epoch, storedAt.toISOString(), redactions]);
}

export async function moveBeginning(db: Db, after: FeedPosition, since: Date): Promise<void> {
  await move(db, BEGINNING, [after.sequenceNumber, after.epoch, since.toISOString(), 1]);
}

/** Notifies every instance at the commit. */
async function move(db: Db, change: string, values: unknown[]): Promise<void> {
  await db.query(
    `with moved as (
       update raadsfeed.feed set ${change}, redactions = redactions + $4::bigint returning ${FEED_STATE} as feed_state
     )
     select pg_notify('${FEED_CHANNEL}', feed_state) from moved`,
    values,
  );
}

/** Less than an aggregator accepts of a source in one answer. */
export const PAGE_OCTETS = 16 * 1024 * 1024;

/** Limits of a read: it ends with the record that reaches `page`, and before one whose content exceeds `record`. */
export interface OctetLimits {
  readonly page: number;
  readonly record: number;
}

const PAGE: OctetLimits = { page: PAGE_OCTETS, record: 2 ** 31 - 1 };

/** A number that should be in the feed is not there: a restored backup, or a row that somebody deleted. */
export class MissingNumberError extends Error {
  constructor(sequenceNumber: number) {
    super(`number ${sequenceNumber} of the feed is missing`);
  }
}

/** The state of the feed as of the statement that read. */
export interface Read {
  readonly state: FeedState;
}

/** A record as it is stored: text, never parsed when it is served. */
export interface StoredRecord extends RecordText {
  readonly sequenceNumber: number;
  readonly epoch: number;
}

export function joinRecord({ prefix, suffix }: RecordText, mountUrl: string): string {
  return suffix === null ? prefix : prefix + mountUrl + suffix;
}

/**
 * The first `limit` records after a number that pass the filter, or as many as the octets allow.
 * @throws {MissingNumberError} when a number is missing that should be there
 */
export async function readAfter(db: Db, after: number, limit: number, filter: RecordFilter, octets?: OctetLimits) {
  // An index gives the numbers that pass a filter; without one every number up to the head has a record.
  const found = isFiltered(filter) ? await findFiltered(db, after, limit, filter) : undefined;
  const numbers = () => found?.numbers ?? Array.from({ length: limit }, (_, i) => after + i + 1);
  let read = found === undefined && octets === undefined ? await readRange(db, after, limit) : undefined;
  if (read === undefined || read.isCut) read = await readTexts(db, numbers(), after, octets);
  const { state, texts, textsInRange, isCut, epoch, large } = read;
  const expected = found?.numbers.length ?? Math.min(limit, state.head.sequenceNumber - after);
  // Unless `after` was pruned meanwhile.
  if (textsInRange < expected && after >= state.historyAfter.sequenceNumber)
    throw new MissingNumberError(numbers().find((number) => !texts.has(number)) ?? after);
  return {
    epoch,
    state: found === undefined ? state : joinStates(found.state, state),
    large,
    records: [...texts.values()],
    isAll: !isCut && textsInRange < limit,
  };
}

async function findFiltered(db: Db, after: number, limit: number, filter: RecordFilter) {
  const { suffix, conditions, values } = filterConditions(filter, 3);
  const numbers = `select sequence_number from raadsfeed.records
                    where sequence_number > $1::bigint${conditions}
                    order by sequence_number
                    limit $2::integer`;
  return await findNumbers(db, `raadsfeed-filtered${suffix}`, numbers, [after, limit, ...values]);
}

/**
 * The first `limit` resources of the current state whose record is after `after` and not after `upTo`, in the order of the feed, or as many as
 * `PAGE_OCTETS` allow. Changes made while a snapshot is read get a number above `upTo`: they are no longer here, but in the feed after `upTo`.
 * @param upTo position of the snapshot: `epoch` is that of the record there
 */
export async function readSnapshot(db: Db, after: number, upTo: number, limit: number, filter: RecordFilter) {
  const { suffix, conditions, values } = filterConditions(filter, 4);
  const numbers = `select sequence_number from raadsfeed.current_records
                    where sequence_number > $1::bigint and sequence_number <= $2::bigint${conditions}
                    order by sequence_number
                    limit $3::integer`;
  const found = await findNumbers(db, `raadsfeed-snapshot${suffix}`, numbers, [after, upTo, limit, ...values]);
  const { state, texts, epoch, isCut } = await readTexts(db, found.numbers, upTo);
  return {
    state: joinStates(found.state, state),
    // A record that was replaced, pruned or redacted between the two statements has a later record in the feed, after `upTo`.
    records: found.numbers.flatMap((number) => texts.get(number) ?? []).filter(({ suffix }) => suffix !== null),
    isAll: !isCut && found.numbers.length < limit,
    epoch,
  };
}

/** The state of a read of two statements: the head as of the first, the redactions and the beginning of the history as of the second. */
export function joinStates(first: FeedState, second: FeedState): FeedState {
  return { ...second, head: first.head };
}

async function findNumbers(db: Db, name: string, numbers: string, values: unknown[]) {
  const { rows } = await db.query<{ state: string | null; number: number | null }>({
    name,
    text: `(select ${FEED_STATE} as state, null::bigint as number from raadsfeed.feed) union all (select null, n.* from (${numbers}) n)`,
    values,
  });
  return { state: toFeedState(rows[0]?.state), numbers: rows.flatMap(({ number }) => number ?? []) };
}

/** The first row has the state of the feed and the epoch of `epochOf`; each later row is a record. */
interface TextRow {
  /** One column for both, because a column of its own for the state would cost time in every row. `null`: a record larger than one may be. */
  readonly stateOrPrefix: string | null;
  readonly suffix: string | null;
  readonly epoch: number | null;
  readonly number: number | null;
  /** Of a record: how many records there are. Absent: all of them are rows. */
  readonly textsInRange?: number | null;
}

/**
 * The texts of the `limit` numbers after one. Nearly every page is far below `PAGE_OCTETS`, so this statement, which is planned once, does not add up
 * the sizes of the texts. Instead each may have an equal share of `PAGE_OCTETS`; the read is cut before the first that is larger.
 */
async function readRange(db: Db, after: number, limit: number) {
  const { rows } = await db.query<TextRow>({
    name: 'raadsfeed-range',
    text: `-- Row 1: the state of the feed.
           (select ${FEED_STATE} as "stateOrPrefix", null as suffix,
                   (select epoch from raadsfeed.texts where sequence_number = $1::bigint) as epoch, null::bigint as number
              from raadsfeed.feed)
           union all
           -- Then a row for each record.
           (select case when octets <= $3::integer then record_prefix end, case when octets <= $3::integer then record_suffix end,
                   epoch, sequence_number
              from (select *, octet_length(record_prefix) + coalesce(octet_length(record_suffix), 0) as octets
                      from raadsfeed.texts where sequence_number > $1::bigint and sequence_number <= $2::bigint) t
             order by sequence_number)`,
    values: [after, after + limit, Math.floor(PAGE_OCTETS / limit)],
  });
  return toTexts(rows);
}

/** The texts of these numbers, in their order as many as the octets allow; and the epoch of one more number, `epochOf`. */
export async function readTexts(db: Db, numbers: readonly number[], epochOf?: number, octets = PAGE) {
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
    text: `-- Row 1: the state of the feed.
           (select ${FEED_STATE} as "stateOrPrefix", null as suffix,
                   (select epoch from raadsfeed.texts where sequence_number = $5::bigint) as epoch, null::bigint as number,
                   null::bigint as "textsInRange"
              from raadsfeed.feed)
           union all
           -- Then a row for each record. A record without a suffix has no content, so it is small.
           (select case when octets <= $4::integer or record_suffix is null then record_prefix end,
                   case when octets <= $4::integer then record_suffix end, epoch, sequence_number, texts_in_range
              from (select t.*, count(*) over () as texts_in_range, sum(octets) over (order by position) - octets as before from (${source}) t) read
             where before < $3::bigint
             order by position)`,
    values: [
      ...[numbers.reduce((a, b) => Math.min(a, b), least), numbers.reduce((a, b) => Math.max(a, b), 0)],
      ...[octets.page, octets.record, epochOf ?? null],
      ...(isRange ? [] : [numbers]),
    ],
  });
  return toTexts(rows);
}

function toTexts([first, ...records]: readonly TextRow[]) {
  const texts = new Map<number, StoredRecord>();
  let large: number | undefined;
  for (const { stateOrPrefix: prefix, suffix, epoch, number } of records) {
    if (number === null) continue;
    if (prefix === null) {
      large = number;
      break;
    }
    texts.set(number, { sequenceNumber: number, epoch: epoch ?? 0, prefix, suffix });
  }
  const textsInRange = records[0]?.textsInRange ?? records.length;
  return {
    state: toFeedState(first?.stateOrPrefix),
    texts,
    /** Of the number `epochOf`, if it has a record. */
    epoch: first?.epoch ?? undefined,
    /** How many of the numbers have a text, including those beyond the limit of octets. */
    textsInRange,
    /** The read ended because of its octets: the later numbers are not in it. */
    isCut: texts.size < textsInRange,
    /** The number after those that were read, when its record is larger than a record may be. */
    large,
  };
}

/** The filters of the feed, its stream, the snapshot and the collections. Another one is a parameter in the contract and a row here. */
type FilterName = Exclude<keyof operations['getFeed']['Querystring'], 'cursor' | 'limit'>;

export type RecordFilter = { readonly [Name in FilterName]?: string | undefined };

/** The members that filters may compare: no others are read of a record for the stream. */
type Filterable = Pick<Change, 'resourceType' | 'resource'>;

interface Filter {
  /** Its column in `raadsfeed.records` and in `raadsfeed.current_records`. */
  readonly column: string;
  readonly valueOf: (record: Filterable) => string;
  readonly normalise?: (value: string) => string | undefined;
}

const FILTERS: Readonly<Record<FilterName, Filter>> = {
  organisatiecode: {
    column: 'organisatiecode',
    valueOf: ({ resource }) => resource.organisatiecode,
    normalise: normaliseOrganisatiecode,
  },
  resourceType: { column: 'resource_type', valueOf: ({ resourceType }) => resourceType },
};

const isFilterName = (name: string): name is FilterName => Object.hasOwn(FILTERS, name);
const NAMES = Object.keys(FILTERS).filter(isFilterName);

export function isFiltered(filter: RecordFilter): boolean {
  return NAMES.some((name) => filter[name] !== undefined);
}

export function readFilter(query: RecordFilter): RecordFilter {
  const read = (name: FilterName, value: string | undefined) =>
    value === undefined ? undefined : (FILTERS[name].normalise ?? String)(value);
  return Object.fromEntries(NAMES.map((name) => [name, read(name, query[name])]));
}

export function filterParameters(filter: RecordFilter): string[] {
  return NAMES.flatMap((name) => {
    const value = filter[name];
    return value === undefined ? [] : `${name}=${encodeURIComponent(value)}`;
  });
}

/**
 * The filters as conditions whose values begin at a parameter. The suffix gives each set of filters a statement of its own, with the plan of its
 * own index.
 */
export function filterConditions(filter: RecordFilter, firstParameter: number) {
  const used = NAMES.filter((name) => filter[name] !== undefined);
  return {
    suffix: used.map((name) => `-${NAMES.indexOf(name)}`).join(''),
    conditions: used.map((name, i) => ` and ${FILTERS[name].column} = $${firstParameter + i}::text`).join(''),
    values: used.map((name) => filter[name]),
  };
}

export function filterableValues(record: Filterable): RecordFilter {
  return Object.fromEntries(NAMES.map((name) => [name, FILTERS[name].valueOf(record)]));
}

export function passesFilter(values: RecordFilter, filter: RecordFilter): boolean {
  return NAMES.every((name) => (filter[name] ?? values[name]) === values[name]);
}
