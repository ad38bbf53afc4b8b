import type { Db } from '../../kernel/database/db.ts';
import type { RecordText } from '../domain/record-text.ts';
import type { ResourceType } from '../domain/resource-type.ts';
import { type Bounded, bounded, PAGE_OCTETS } from './page-budget.ts';
import type { StoredRecord } from './read-records.ts';

/** A record with what the filters of streams look at. */
export interface StoredEvent extends Omit<StoredRecord, 'merk'> {
  readonly organisatiecode: string;
  readonly resourceType: ResourceType;
}

interface Row extends RecordText {
  readonly sequence_number: number;
  readonly organisatiecode: string;
  readonly resource_type: ResourceType;
  readonly octets: number;
}

/** The first `limit` records after a number, up to and including `upTo`, or as many as `PAGE_OCTETS` allow. */
export async function readEvents(db: Db, after: number, upTo: number, limit: number): Promise<Bounded<StoredEvent>> {
  const { rows } = await db.query<Row>({
    name: 'raadsfeed-events',
    text: `select sequence_number, organisatiecode, resource_type, kop, rest, octets
             from (select r.sequence_number, r.organisatiecode, r.resource_type, t.kop, t.rest,
                          octet_length(t.kop) + coalesce(octet_length(t.rest), 0) as eigen,
                          sum(octet_length(t.kop) + coalesce(octet_length(t.rest), 0))
                            over (order by r.sequence_number rows unbounded preceding) as octets
                     from (select sequence_number, organisatiecode, resource_type from raadsfeed.record
                            where sequence_number > $1::bigint and sequence_number <= $2::bigint
                            order by sequence_number
                            limit $3::integer) r
                     join raadsfeed.tekst t
                       on t.deel = ((r.sequence_number >> 12) & 31) and t.sequence_number = r.sequence_number) g
            where octets - eigen < $4::bigint
            order by sequence_number`,
    values: [after, upTo, limit, PAGE_OCTETS],
  });
  return bounded(
    rows.map(
      ({ sequence_number: sequenceNumber, resource_type: resourceType, organisatiecode, kop, rest, octets }) => ({
        sequenceNumber,
        resourceType,
        organisatiecode,
        kop,
        rest,
        octets,
      }),
    ),
  );
}
