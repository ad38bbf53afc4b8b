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
  /** `null` at the place itself, and beyond what the octets allow. */
  readonly record: string | null;
  /** Of the place itself, and of the last record. */
  readonly merk: number | null;
}

/**
 * The records after a place, up to and including `upTo`, at least one and at most 4096, with the mark of the place itself. The database joins
 * the two pieces of each with the address of the mount: half as many texts to read.
 * `undefined` when they are not all there: pruned away since, or a history that was put back.
 */
export async function readRange(
  db: Db,
  { after, upTo, mountUrl }: { after: number; upTo: number; mountUrl: string },
): Promise<StoredRange | undefined> {
  const [first, last] = [partOf(after), partOf(upTo)];
  const values = [mountUrl, after, upTo, PAGE_OCTETS, first];
  // Named one by one, so that a plan that is kept can leave out the other parts. Most pages lie in one.
  const [name, condition, places] =
    first === last
      ? (['raadsfeed-range', 'deel = $5::smallint', values] as const)
      : (['raadsfeed-range-of-two', 'deel in ($5::smallint, $6::smallint)', [...values, last]] as const);
  const { rows } = await db.query<Row>({
    name,
    text: `select case when sequence_number = $2::bigint or samen - eigen >= $4::bigint then null
                       when rest is null then kop
                       else kop || $1::text || rest end as record,
                  case when sequence_number in ($2::bigint, $3::bigint) or (samen - eigen < $4::bigint and samen >= $4::bigint) then merk end as merk
             from (select sequence_number, merk, kop, rest, eigen, sum(eigen) over (order by sequence_number rows unbounded preceding) as samen
                     from (select sequence_number, merk, kop, rest,
                                  case when sequence_number > $2::bigint then octet_length(kop) + coalesce(octet_length(rest), 0) else 0 end as eigen
                             from raadsfeed.tekst
                            where ${condition} and sequence_number >= $2::bigint and sequence_number <= $3::bigint) t) s
            order by sequence_number`,
    values: [...places],
  });
  const place = rows[0]?.record === null ? rows[0] : undefined;
  if (rows.length - (place === undefined ? 0 : 1) !== upTo - after) return undefined;
  const records = rows.flatMap(({ record }) => (record === null ? [] : [record]));
  const lastMerk = rows[records.length - (place === undefined ? 1 : 0)]?.merk ?? undefined;
  if (lastMerk === undefined) return undefined;
  return { records, merk: place?.merk ?? undefined, lastMerk };
}
