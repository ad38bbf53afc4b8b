import type { Db } from '../../kernel/database/db.ts';
import type { ResourceType } from '../domain/resource-type.ts';
import { type Bounded, type PageRow, pageStatement, readPage, type WholeRow } from './page-budget.ts';
import type { StoredRecord } from './read-records.ts';

/** A record with what the filters of streams look at. */
export interface StoredEvent extends Omit<StoredRecord, 'merk'> {
  readonly organisatiecode: string;
  readonly resourceType: ResourceType;
}

interface Row extends PageRow {
  readonly organisatiecode: string;
  readonly resource_type: ResourceType;
}

/** The first `limit` records after a number, up to and including `upTo`, or as many as `PAGE_OCTETS` allow. */
export async function readEvents(db: Db, after: number, upTo: number, limit: number): Promise<Bounded<StoredEvent>> {
  const columns = ['organisatiecode', 'resource_type'];
  const places = `select sequence_number, organisatiecode, resource_type from raadsfeed.record
                   where sequence_number > $2::bigint and sequence_number <= $3::bigint
                   order by sequence_number
                   limit $4::integer`;
  const { found, isCut } = await readPage<Row>(limit, async (careful, octets) => {
    const { rows } = await db.query<Row>({
      name: `raadsfeed-events${careful ? '-careful' : ''}`,
      text: pageStatement(careful, { places, columns }),
      values: [octets, after, upTo, limit],
    });
    return rows;
  });
  return { found: found.map(toEvent), isCut };
}

function toEvent({ sequence_number, resource_type, organisatiecode, kop, rest }: WholeRow<Row>): StoredEvent {
  return { sequenceNumber: sequence_number, resourceType: resource_type, organisatiecode, kop, rest };
}
