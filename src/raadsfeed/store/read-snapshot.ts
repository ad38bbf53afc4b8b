import type { Db } from '../../kernel/database/db.ts';
import type { RecordText } from '../domain/record-text.ts';
import { type Bounded, bounded, PAGE_OCTETS } from './page-budget.ts';
import type { RecordFilter, StoredRecord } from './read-records.ts';

/**
 * The first `limit` resources of the current state whose record stands after `after` and not after `upTo`, in the order of the feed, or as
 * many as `PAGE_OCTETS` allow.
 * What changes while a snapshot is read gets a higher number than `upTo`, so it is not here any more, and the feed after `upTo` has it.
 */
export async function readSnapshot(
  db: Db,
  after: number,
  upTo: number,
  limit: number,
  { organisatiecode, resourceType }: RecordFilter,
): Promise<Bounded<Omit<StoredRecord, 'merk'>>> {
  const { rows } = await db.query<RecordText & { sequence_number: number; octets: number }>({
    name: organisatiecode === undefined ? 'raadsfeed-snapshot' : 'raadsfeed-snapshot-organisation',
    text: `select sequence_number, kop, rest, octets
             from (select t.sequence_number, t.kop, t.rest, octet_length(t.kop) + coalesce(octet_length(t.rest), 0) as eigen,
                          sum(octet_length(t.kop) + coalesce(octet_length(t.rest), 0))
                            over (order by s.sequence_number rows unbounded preceding) as octets
                     from (select sequence_number from raadsfeed.stand
                            where sequence_number > $1::bigint and sequence_number <= $2::bigint
                              and resource_type = any ($5::text[])${organisatiecode === undefined ? '' : ' and organisatiecode = $6::text'}
                            order by sequence_number
                            limit $3::integer) s
                     join raadsfeed.tekst t
                       on t.deel = ((s.sequence_number >> 12) & 31) and t.sequence_number = s.sequence_number) g
            where octets - eigen < $4::bigint
            order by sequence_number`,
    values: [
      after,
      upTo,
      limit,
      PAGE_OCTETS,
      resourceType === undefined ? ['Vergadering', 'Agendapunt', 'Informatieobject'] : [resourceType],
      ...(organisatiecode === undefined ? [] : [organisatiecode]),
    ],
  });
  return bounded(
    rows.map(({ sequence_number: sequenceNumber, kop, rest, octets }) => ({ sequenceNumber, kop, rest, octets })),
  );
}
