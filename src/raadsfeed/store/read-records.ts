import type { Db } from '../../kernel/database/db.ts';
import type { FeedPosition } from '../domain/cursor.ts';
import type { RecordText } from '../domain/record-text.ts';
import type { ResourceType } from '../domain/resource-type.ts';
import { type Bounded, bounded, PAGE_OCTETS } from './page-budget.ts';
import { partOf } from './text-parts.ts';

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
  readonly octets: number;
}

/** The first `limit` records after a place, up to and including `upTo`, that pass the filter, or as many as `PAGE_OCTETS` allow. */
export async function readFiltered(
  db: Db,
  after: number,
  upTo: number,
  limit: number,
  filter: RecordFilter,
): Promise<Bounded<StoredRecord>> {
  const { organisatiecode, resourceType } = filter;
  const place = [after, upTo, limit, PAGE_OCTETS];
  // Three texts, so that each has the plan of its own index.
  const [name, condition, values] =
    organisatiecode === undefined
      ? (['type', 'resource_type = $5::text', [...place, resourceType]] as const)
      : resourceType === undefined
        ? (['organisation', 'organisatiecode = $5::text', [...place, organisatiecode]] as const)
        : ([
            'both',
            'organisatiecode = $5::text and resource_type = $6::text',
            [...place, organisatiecode, resourceType],
          ] as const);
  const { rows } = await db.query<Row>({
    name: `raadsfeed-filtered-${name}`,
    // The texts are looked up part by part: choosing the part anew for each number costs more than the lookup itself.
    text: `with gevonden as materialized (
             select sequence_number from raadsfeed.record
              where sequence_number > $1::bigint and sequence_number <= $2::bigint and ${condition}
              order by sequence_number
              limit $3::integer
           ), delen as (
             select ((sequence_number >> 12) & 31)::smallint as deel, array_agg(sequence_number) as nummers
               from gevonden
              group by 1
           )
           select sequence_number, merk, kop, rest, octets
             from (select t.*, sum(eigen) over (order by sequence_number rows unbounded preceding) as octets
                     from delen d
                    cross join lateral (
                      select sequence_number, merk, kop, rest, octet_length(kop) + coalesce(octet_length(rest), 0) as eigen
                        from raadsfeed.tekst
                       where deel = d.deel and sequence_number = any (d.nummers)
                      offset 0) t) s
            where octets - eigen < $4::bigint
            order by sequence_number`,
    values: [...values],
  });
  return bounded(rows.map(toStored));
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

function toStored({ sequence_number: sequenceNumber, merk, kop, rest, octets }: Row) {
  return { sequenceNumber, merk, kop, rest, octets };
}
