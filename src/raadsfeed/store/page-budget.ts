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
 * The statement for texts of the records `p`. The texts are looked up part by part: choosing the part anew for each number costs more than the
 * lookup itself.
 * @param columns of `p` and `t`, beside `kop` and `rest`
 * @param places a statement of the records in question, with their `sequence_number`
 * @param order a column of `p`
 */
export function pageStatement(
  careful: boolean,
  { columns, places, order }: { columns: readonly string[]; places: string; order: string },
): string {
  const start = `with p as materialized (${places}), delen as (
      select ((sequence_number >> 12) & 31)::smallint as deel, array_agg(sequence_number) as nummers from p group by 1
    )`;
  const from = `from delen d
                cross join lateral (
                  select sequence_number, merk, kop, rest from raadsfeed.tekst
                   where deel = d.deel and sequence_number = any (d.nummers)
                  offset 0) t
                join p on p.sequence_number = t.sequence_number`;
  if (!careful) {
    return `${start}
            select ${columns.join(', ')}, case when octet_length(t.rest) > $1::integer then null else t.kop end as kop,
                   case when octet_length(t.rest) <= $1::integer then t.rest end as rest
              ${from}
             order by p.${order}`;
  }
  const names = columns.map((column) => column.replace(/^.*\./, ''));
  return `${start}
          select ${names.join(', ')}, kop, rest, octets
            from (select ${columns.join(', ')}, t.kop, t.rest, octet_length(t.kop) + coalesce(octet_length(t.rest), 0) as eigen,
                         sum(octet_length(t.kop) + coalesce(octet_length(t.rest), 0))
                           over (order by p.${order} rows unbounded preceding) as octets
                    ${from}) g
           where octets - eigen < $1::integer
           order by ${order}`;
}
