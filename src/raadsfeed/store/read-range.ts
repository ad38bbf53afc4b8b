import type { Db } from '../../kernel/database/db.ts';
import { PAGE_OCTETS } from './page-budget.ts';
import { partOf } from './text-parts.ts';

/** A page of the log. */
export interface StoredRange {
  /** The records as they are served, in the order of their numbers, which have no gap; up to `upTo`, or as many as `PAGE_OCTETS` allow. */
  readonly records: readonly string[];
  /** The mark of the place itself; `undefined` when it has no record. */
  readonly merk: number | undefined;
  /** The mark of the last record. */
  readonly lastMerk: number;
}

interface Row {
  /** Empty at the place itself; `null` beyond what the octets allow. */
  readonly record: string | null;
  /** Of the place itself, and of the last record. */
  readonly merk: number | null;
}

interface Place {
  readonly after: number;
  readonly upTo: number;
  readonly mountUrl: string;
}

/**
 * The records after a place, up to and including `upTo`, at least one and at most 4096, with the mark of the place itself. The database joins
 * the two pieces of each with the address of the mount: half as many texts to read.
 * `undefined` when they are not all there: pruned away since, or a history that was put back.
 */
export async function readRange(db: Db, place: Place): Promise<StoredRange | undefined> {
  const size = place.upTo - place.after;
  const rows = await readRows(db, place, Math.floor(PAGE_OCTETS / size), false);
  if (rows.every(({ record }) => record !== null)) return toRange(rows, size);
  // One of them is large: each is added up.
  return toRange(await readRows(db, place, PAGE_OCTETS, true), size);
}

async function readRows(db: Db, { after, upTo, mountUrl }: Place, octets: number, careful: boolean): Promise<Row[]> {
  const [first, last] = [partOf(after), partOf(upTo)];
  const values = [mountUrl, after, upTo, octets, first];
  // Named one by one, so that a plan that is kept can leave out the other parts. Most pages lie in one.
  const [name, condition, places] =
    first === last
      ? (['raadsfeed-range', 'deel = $5::smallint', values] as const)
      : (['raadsfeed-range-of-two', 'deel in ($5::smallint, $6::smallint)', [...values, last]] as const);
  const where = `${condition} and sequence_number >= $2::bigint and sequence_number <= $3::bigint`;
  const { rows } = await db.query<Row>({
    name: `${name}${careful ? '-careful' : ''}`,
    text: careful
      ? `select case when sequence_number = $2::bigint then ''
                     when samen - eigen >= $4::integer then null
                     when rest is null then kop
                     else kop || $1::text || rest end as record,
                merk
           from (select sequence_number, merk, kop, rest, eigen, sum(eigen) over (order by sequence_number rows unbounded preceding) as samen
                   from (select sequence_number, merk, kop, rest,
                                case when sequence_number > $2::bigint then octet_length(kop) + coalesce(octet_length(rest), 0) else 0 end as eigen
                           from raadsfeed.tekst
                          where ${where}) t) s
          order by sequence_number`
      : `select case when sequence_number = $2::bigint then ''
                     when octet_length(rest) > $4::integer then null
                     when rest is null then kop
                     else kop || $1::text || rest end as record,
                case when sequence_number in ($2::bigint, $3::bigint) then merk end as merk
           from raadsfeed.tekst
          where ${where}
          order by sequence_number`,
    values: [...places],
  });
  return rows;
}

/** @param size records that must be there */
function toRange(rows: readonly Row[], size: number): StoredRange | undefined {
  const place = rows[0]?.record === '' ? rows[0] : undefined;
  const there = place === undefined ? rows : rows.slice(1);
  const records = there.flatMap(({ record }) => (record === null ? [] : [record]));
  const lastMerk = there[records.length - 1]?.merk ?? undefined;
  if (there.length !== size || lastMerk === undefined) return undefined;
  return { records, merk: place?.merk ?? undefined, lastMerk };
}
