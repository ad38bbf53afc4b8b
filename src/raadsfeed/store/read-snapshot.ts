import type { Db } from '../../kernel/database/db.ts';
import { type Bounded, type PageRow, pageStatement, readPage } from './page-budget.ts';
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
  const places = `select sequence_number from raadsfeed.stand
                   where sequence_number > $2::bigint and sequence_number <= $3::bigint
                     and resource_type = any ($5::text[])${organisatiecode === undefined ? '' : ' and organisatiecode = $6::text'}
                   order by sequence_number
                   limit $4::integer`;
  const types = resourceType === undefined ? ['Vergadering', 'Agendapunt', 'Informatieobject'] : [resourceType];
  const { found, isCut } = await readPage(limit, async (careful, octets) => {
    const { rows } = await db.query<PageRow>({
      name: `raadsfeed-snapshot${organisatiecode === undefined ? '' : '-organisation'}${careful ? '-careful' : ''}`,
      text: pageStatement(careful, { places }),
      values: [octets, after, upTo, limit, types, ...(organisatiecode === undefined ? [] : [organisatiecode])],
    });
    return rows;
  });
  return {
    found: found.map(({ sequence_number: sequenceNumber, kop, rest }) => ({ sequenceNumber, kop, rest })),
    isCut,
  };
}
