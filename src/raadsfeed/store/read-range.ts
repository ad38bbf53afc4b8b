import type { Db } from '../../kernel/database/db.ts';
import { partOf } from './text-parts.ts';

/** A page of the log. */
export interface StoredRange {
  /** The records in the order of their numbers, which have no gap, joined with commas: the inside of a JSON array. */
  readonly records: string;
  /** The mark of the place itself; `undefined` when it has no record. */
  readonly merk: number | undefined;
  /** The mark of the last record. */
  readonly lastMerk: number;
}

interface Row {
  readonly records: string | null;
  readonly found: number;
  readonly merk: number | null;
  readonly last_merk: number | null;
}

/**
 * The records after a place, up to and including `upTo`, at least one and at most 4096, with the mark of the place itself. The database joins
 * them: one text that comes over is read several times faster than a thousand.
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
    text: `select string_agg(case when sequence_number = $2::bigint then null
                                  when rest is null then kop
                                  else kop || $1::text || rest end, ',' order by sequence_number) as records,
                  count(*) filter (where sequence_number > $2::bigint) as found,
                  min(merk) filter (where sequence_number = $2::bigint) as merk,
                  min(merk) filter (where sequence_number = $3::bigint) as last_merk
             from raadsfeed.tekst
            where ${condition} and sequence_number >= $2::bigint and sequence_number <= $3::bigint`,
    values: [...places],
  });
  const [row] = rows;
  if (row === undefined || row.records === null || row.last_merk === null || row.found !== upTo - after)
    return undefined;
  return { records: row.records, merk: row.merk ?? undefined, lastMerk: row.last_merk };
}
