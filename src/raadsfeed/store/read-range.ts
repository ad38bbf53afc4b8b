import type { Db } from '../../kernel/database/db.ts';
import { partOf } from './text-parts.ts';

/** A page of the log. */
export interface StoredRange {
  /** The records as they are served, in the order of their numbers, which have no gap. */
  readonly records: readonly string[];
  /** The mark of the place itself; `undefined` when it has no record. */
  readonly merk: number | undefined;
  /** The mark of the last record. */
  readonly lastMerk: number;
}

interface Row {
  readonly record: string | null;
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
  const values = [mountUrl, after, upTo, first];
  // Named one by one, so that a plan that is kept can leave out the other parts. Most pages lie in one.
  const [name, condition, places] =
    first === last
      ? (['raadsfeed-range', 'deel = $4::smallint', values] as const)
      : (['raadsfeed-range-of-two', 'deel in ($4::smallint, $5::smallint)', [...values, last]] as const);
  const { rows } = await db.query<Row>({
    name,
    text: `select case when sequence_number = $2::bigint then null
                       when rest is null then kop
                       else kop || $1::text || rest end as record,
                  case when sequence_number in ($2::bigint, $3::bigint) then merk end as merk
             from raadsfeed.tekst
            where ${condition} and sequence_number >= $2::bigint and sequence_number <= $3::bigint
            order by sequence_number`,
    values: [...places],
  });
  const place = rows[0]?.record === null ? rows[0] : undefined;
  const records = rows.flatMap(({ record }) => (record === null ? [] : [record]));
  const lastMerk = rows.at(-1)?.merk ?? undefined;
  if (records.length !== upTo - after || lastMerk === undefined) return undefined;
  return { records, merk: place?.merk ?? undefined, lastMerk };
}
