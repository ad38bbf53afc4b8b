import type { Db } from '../../kernel/database/db.ts';
import type { FeedPosition } from '../domain/cursor.ts';
import type { RecordText } from '../domain/record-text.ts';
import type { ResourceType } from '../domain/resource-type.ts';

/** A record as it is kept: text, never parsed on its way out. */
export interface StoredRecord extends RecordText {
  readonly sequenceNumber: number;
  readonly merk: number;
}

/** Which records are wanted; absent: all. */
export interface RecordFilter {
  readonly organisatiecode?: string | undefined;
  readonly resourceType?: ResourceType | undefined;
}

interface Row extends RecordText {
  readonly sequence_number: number;
  readonly merk: number;
}

/** A page of the log as it is kept. */
export interface StoredRange {
  /** In the order of their numbers, which have no gap: the first is the one after the place. */
  readonly texts: readonly RecordText[];
  /** The mark of the place itself; `undefined` when it has no record. */
  readonly merk: number | undefined;
  readonly lastMerk: number | undefined;
}

/**
 * The records after a place, up to and including `upTo`, together with the mark of the place itself.
 * `undefined` when they are not all there: pruned away since, or a history that was put back.
 */
export async function readRange(db: Db, after: number, upTo: number): Promise<StoredRange | undefined> {
  const { rows } = await db.query<RecordText & { merk: number }>({
    name: 'raadsfeed-range',
    text: `select merk, case when sequence_number > $2::bigint then kop else '' end as kop,
                  case when sequence_number > $2::bigint then rest end as rest
             from raadsfeed.tekst
            where deel = any ($1::smallint[]) and sequence_number >= $2::bigint and sequence_number <= $3::bigint
            order by sequence_number`,
    values: [partsOf(after, upTo), after, upTo],
  });
  const wanted = upTo - after;
  const lastMerk = rows.at(-1)?.merk;
  if (rows.length === wanted) return { texts: rows, merk: undefined, lastMerk };
  if (rows.length !== wanted + 1) return undefined;
  const [place, ...texts] = rows;
  return { texts, merk: place?.merk, lastMerk };
}

/** The first `limit` records after a place, up to and including `upTo`, that pass the filter. */
export async function readFiltered(
  db: Db,
  after: number,
  upTo: number,
  limit: number,
  filter: RecordFilter,
): Promise<StoredRecord[]> {
  const { organisatiecode, resourceType } = filter;
  const place = [after, upTo, limit];
  // Three texts, so that each has the plan of its own index.
  const [name, condition, values] =
    organisatiecode === undefined
      ? (['type', 'resource_type = $4::text', [...place, resourceType]] as const)
      : resourceType === undefined
        ? (['organisation', 'organisatiecode = $4::text', [...place, organisatiecode]] as const)
        : ([
            'both',
            'organisatiecode = $4::text and resource_type = $5::text',
            [...place, organisatiecode, resourceType],
          ] as const);
  const { rows } = await db.query<Row>({
    name: `raadsfeed-filtered-${name}`,
    text: `select t.sequence_number, t.merk, t.kop, t.rest
             from (select sequence_number from raadsfeed.record
                    where sequence_number > $1::bigint and sequence_number <= $2::bigint and ${condition}
                    order by sequence_number
                    limit $3::integer) r
             join raadsfeed.tekst t on t.deel = ((r.sequence_number >> 12) & 31) and t.sequence_number = r.sequence_number
            order by r.sequence_number`,
    values: [...values],
  });
  return rows.map(toStored);
}

/** The mark of one record; `undefined` when it is not there. */
export async function readMark(db: Db, sequenceNumber: number): Promise<FeedPosition['merk'] | undefined> {
  const { rows } = await db.query<{ merk: number }>({
    name: 'raadsfeed-mark',
    text: 'select merk from raadsfeed.tekst where deel = $1::smallint and sequence_number = $2::bigint',
    values: [partOf(sequenceNumber), sequenceNumber],
  });
  return rows[0]?.merk;
}

function toStored({ sequence_number: sequenceNumber, merk, kop, rest }: Row): StoredRecord {
  return { sequenceNumber, merk, kop, rest };
}

/** Records per stretch that lies in one part, as a power of two; the check of `tekst.deel` says the same. */
const STRETCH_BITS = 12;
const PARTS = 32;

function partOf(sequenceNumber: number): number {
  return Math.floor(sequenceNumber / 2 ** STRETCH_BITS) % PARTS;
}

function partsOf(first: number, last: number): number[] {
  const parts = [partOf(first)];
  for (
    let n = first + 2 ** STRETCH_BITS;
    n < last + 2 ** STRETCH_BITS && parts.length < PARTS;
    n += 2 ** STRETCH_BITS
  ) {
    const part = partOf(Math.min(n, last));
    if (part !== parts.at(-1)) parts.push(part);
  }
  return parts;
}
