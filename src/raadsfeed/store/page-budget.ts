/**
 * How much stored text one read takes: a page of a thousand records of four megabytes each would be more than the process can hold. A read
 * ends with the record that brings it to `PAGE_OCTETS`, so that there is always at least one. Nearly every page is far below that: a cheap
 * statement finds out that no record of it is large, and only when one is, each is added up.
 */

/** Less than an aggregator takes of a source in one answer. */
export const PAGE_OCTETS = 16 * 1024 * 1024;

/** What was read, in order. */
export interface Bounded<T> {
  readonly found: T[];
  /** The read ended because of its octets: there may be more. */
  readonly isCut: boolean;
}

/** A row of a statement of `pageStatement`. */
export interface PageRow {
  readonly sequence_number: number;
  readonly merk: number;
  /** `null`: the record is so large that all of them might be too much. */
  readonly kop: string | null;
  readonly rest: string | null;
  /** Of this record and those before it, when they are added up. */
  readonly octets?: number;
}

export type WholeRow<R extends PageRow> = R & { readonly kop: string };

/**
 * Reads rows with the cheap statement, and anew with the careful one when a large record is among them.
 * @param limit rows at most
 * @param read runs one of the two; `octets` is what `$1` of it stands for
 */
export async function readPage<R extends PageRow>(
  limit: number,
  read: (careful: boolean, octets: number) => Promise<R[]>,
): Promise<Bounded<WholeRow<R>>> {
  const rows = await read(false, Math.floor(PAGE_OCTETS / limit));
  if (rows.every(isWhole)) return { found: rows, isCut: false };
  const found = (await read(true, PAGE_OCTETS)).filter(isWhole);
  return { found, isCut: (found.at(-1)?.octets ?? 0) >= PAGE_OCTETS };
}

function isWhole<R extends PageRow>(row: R): row is WholeRow<R> {
  return row.kop !== null;
}

/**
 * The statement for the texts of records, with their `sequence_number` and `merk`. The texts are looked up part by part: choosing the part
 * anew for each number costs more than the lookup itself. All are looked up before anything is joined to them: the database might look them
 * up anew for each record otherwise.
 * @param places a statement of the records in question: their `sequence_number` and `columns`
 * @param columns what else of `places` is wanted
 * @param order a column of `places`
 */
export function pageStatement(
  careful: boolean,
  { places, columns = [], order = 'sequence_number' }: { places: string; columns?: readonly string[]; order?: string },
): string {
  const isJoined = columns.length > 0;
  const names = ['sequence_number', 'merk', ...columns].join(', ');
  const texts = `with p as materialized (${places}), delen as (
      select ((sequence_number >> 12) & 31)::smallint as deel, array_agg(sequence_number) as nummers from p group by 1
    ), t as ${isJoined ? 'materialized' : 'not materialized'} (
      select gevonden.* from delen d cross join lateral (
        select sequence_number, merk, kop, rest from raadsfeed.tekst where deel = d.deel and sequence_number = any (d.nummers) offset 0
      ) gevonden
    )`;
  const from = isJoined ? 't join p using (sequence_number)' : 't';
  if (!careful) {
    return `${texts}
            select ${names}, case when octet_length(rest) > $1::integer then null else kop end as kop,
                   case when octet_length(rest) <= $1::integer then rest end as rest
              from ${from}
             order by ${order}`;
  }
  return `${texts}
          select ${names}, kop, rest, octets
            from (select *, sum(eigen) over (order by ${order} rows unbounded preceding) as octets
                    from (select ${names}, kop, rest, octet_length(kop) + coalesce(octet_length(rest), 0) as eigen from ${from}) e) g
           where octets - eigen < $1::integer
           order by ${order}`;
}
