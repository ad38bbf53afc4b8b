/**
 * Reads of records whose numbers are not consecutive: of a filter, of the current state, of a collection. An index gives the numbers; their
 * texts are read in a second statement that is planned for these numbers, so that it opens only the partitions that they lie in.
 */
import type { Db } from '../../database/transaction.ts';
import { dataOf, type RecordText } from '../domain/record-text.ts';
import type { ResourceType } from '../domain/resource.ts';
import { FEED_HEAD, type FeedHead, toFeedHead } from './feed-row.ts';
import { MissingNumberError, type OctetLimits, PAGE_OCTETS, type Read } from './read-log.ts';

/** No text is longer. */
const PAGE: OctetLimits = { page: PAGE_OCTETS, record: 2 ** 31 - 1 };

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

/** The first `limit` records after a number that pass the filter, or as many as the octets allow. */
export async function readFiltered(
  db: Db,
  after: number,
  limit: number,
  { organisatiecode, resourceType }: RecordFilter,
  octets = PAGE,
): Promise<SparseRead & { large: number | undefined }> {
  // Three texts, so that each has the plan of its own index.
  const [name, condition, values] =
    organisatiecode === undefined
      ? (['type', 'resource_type = $3::text', [resourceType]] as const)
      : resourceType === undefined
        ? (['organisation', 'organisatiecode = $3::text', [organisatiecode]] as const)
        : ([
            'both',
            'organisatiecode = $3::text and resource_type = $4::text',
            [organisatiecode, resourceType],
          ] as const);
  const found = await findNumbers(db, {
    name: `raadsfeed-filtered-${name}`,
    numbers: `select sequence_number from raadsfeed.record
               where sequence_number > $1::bigint and ${condition}
               order by sequence_number
               limit $2::integer`,
    values: [after, limit, ...values],
  });
  const { head, texts, epoch, isCut, large } = await readTexts(db, found.numbers, after, octets);
  const records = found.numbers.flatMap((number) => texts.get(number) ?? []);
  const isMissing = !isCut && records.length < found.numbers.length;
  if (isMissing && after >= head.historyAfter.sequenceNumber)
    throw new MissingNumberError(found.numbers.find((number) => !texts.has(number)) ?? after);
  return {
    head: joinHeads(found.head, head),
    records,
    isAll: !isCut && found.numbers.length < limit,
    epoch,
    large,
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
    numbers: `select sequence_number from raadsfeed.stand
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
function joinHeads(first: FeedHead, second: FeedHead): FeedHead {
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
}

interface TextRow {
  /** The head of the feed where there is no number; `null` for a large record. */
  readonly prefix: string | null;
  readonly suffix: string | null;
  readonly epoch: number | null;
  readonly number: number | null;
  /** How many of the numbers have a text, those beyond the limit of octets too. */
  readonly found: number;
}

/** The texts of these numbers, in their order as many as the octets allow; and the epoch of one more, `beside`. */
async function readTexts(db: Db, numbers: readonly number[], beside?: number, octets = PAGE): Promise<TextsRead> {
  const { rows } = await db.query<TextRow>({
    // Without a name: planned for its numbers each time. The sizes are known without the texts.
    text: `(select ${FEED_HEAD} as prefix, null as suffix,
                   (select merk from raadsfeed.tekst where sequence_number = $6::bigint) as epoch, null::bigint as number,
                   null::bigint as found
              from raadsfeed.feed)
           union all
           (select case when octets <= $5::integer or rest is null then kop end, case when octets <= $5::integer then rest end,
                   merk, sequence_number, found
              from (select t.*, n.position, count(*) over () as found, sum(t.octets) over (order by n.position) - t.octets as before
                      from unnest($1::bigint[]) with ordinality as n (number, position)
                     cross join lateral (
                           select sequence_number, merk, kop, rest, octet_length(kop) + coalesce(octet_length(rest), 0) as octets
                             from raadsfeed.tekst
                            where sequence_number = n.number and sequence_number >= $2::bigint and sequence_number <= $3::bigint
                           offset 0) t) read
             where before < $4::bigint
             order by position)`,
    values: [numbers, least(numbers), greatest(numbers), octets.page, octets.record, beside ?? null],
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
  return {
    ...{ head: toFeedHead(first?.prefix), texts, large, epoch: first?.epoch ?? undefined },
    isCut: texts.size < (rest[0]?.found ?? 0),
  };
}

const least = (numbers: readonly number[]): number => numbers.reduce((a, b) => Math.min(a, b), numbers[0] ?? 0);
const greatest = (numbers: readonly number[]): number => numbers.reduce((a, b) => Math.max(a, b), 0);

/** A resource that is there now. */
export interface CurrentResource {
  readonly bronidentificatie: string;
  readonly sequenceNumber: number;
  /** `data` as it was published. */
  readonly dataText: string;
}

/** The first `limit` resources of one kind and organisation after a name, in the order of their names, or as many as `PAGE_OCTETS` allow. */
export async function readCollection(
  db: Db,
  of: { organisatiecode: string; resourceType: ResourceType },
  after: string,
  limit: number,
): Promise<Read & { found: CurrentResource[]; isAll: boolean }> {
  const { rows } = await db.query<{ name: string; number: number | null }>({
    name: 'raadsfeed-collection',
    text: `(select ${FEED_HEAD} as name, null::bigint as number from raadsfeed.feed)
           union all
           (select bronidentificatie, sequence_number from raadsfeed.stand
             where organisatiecode = $1::text and resource_type = $2::text and bronidentificatie > $3::text
             order by bronidentificatie
             limit $4::integer)`,
    values: [of.organisatiecode, of.resourceType, after, limit],
  });
  const [first, ...rest] = rows;
  const current = rest.flatMap(({ name, number }) => (number === null ? [] : [{ name, number }]));
  const { head, texts, isCut } = await readTexts(
    db,
    current.map(({ number }) => number),
  );
  const found = current.flatMap(({ name, number }) => {
    const text = texts.get(number);
    // A text without content was redacted between the two statements.
    return text === undefined || text.suffix === null ? [] : [toCurrent(text, text.suffix, name, of)];
  });
  return { head: joinHeads(toFeedHead(first?.name), head), found, isAll: !isCut && current.length < limit };
}

/** One resource as it is now; `undefined` when it is unknown or was removed. */
export async function readResource(
  db: Db,
  of: { organisatiecode: string; resourceType: ResourceType; bronidentificatie: string },
): Promise<Read & { resource: CurrentResource | undefined }> {
  const found = await findNumbers(db, {
    name: 'raadsfeed-resource',
    numbers: `select sequence_number from raadsfeed.stand
               where organisatiecode = $1::text and resource_type = $2::text and bronidentificatie = $3::text`,
    values: [of.organisatiecode, of.resourceType, of.bronidentificatie],
  });
  const [number] = found.numbers;
  if (number === undefined) return { head: found.head, resource: undefined };
  const { head, texts } = await readTexts(db, [number]);
  const text = texts.get(number);
  const resource =
    text === undefined || text.suffix === null ? undefined : toCurrent(text, text.suffix, of.bronidentificatie, of);
  return { head: joinHeads(found.head, head), resource };
}

function toCurrent(
  { sequenceNumber }: StoredRecord,
  suffix: string,
  bronidentificatie: string,
  { organisatiecode, resourceType }: { organisatiecode: string; resourceType: ResourceType },
): CurrentResource {
  const dataText = dataOf(suffix, { resourceType, resource: { organisatiecode, bronidentificatie } });
  return { bronidentificatie, sequenceNumber, dataText };
}
