import type { Db } from '../../../kernel/database/transaction.ts';
import { dataOf } from '../../domain/record-text.ts';
import type { SourceData } from '../source-adapter.ts';

const RESOURCE_TYPE = 'Informatieobject';

/** The documents with these names as the feed has them now. */
export async function readCurrentDocuments(
  db: Db,
  organisatiecode: string,
  names: readonly string[],
): Promise<ReadonlyMap<string, SourceData>> {
  const { rows } = await db.query<{ bronidentificatie: string; rest: string }>({
    name: 'aggregator-current-documents',
    text: `select s.bronidentificatie, t.rest
             from raadsfeed.stand s
             join raadsfeed.tekst t on t.sequence_number = s.sequence_number
            where s.organisatiecode = $1::text and s.resource_type = $2::text and s.bronidentificatie = any ($3::text[])`,
    values: [organisatiecode, RESOURCE_TYPE, names],
  });
  return new Map(
    rows.map(({ bronidentificatie, rest }) => {
      const resource = { organisatiecode, bronidentificatie };
      const data: SourceData = JSON.parse(dataOf(rest, { resourceType: RESOURCE_TYPE, resource }));
      return [bronidentificatie, data];
    }),
  );
}

/** How many resources the feed has of an organisation. */
export async function countResources(db: Db, organisatiecode: string): Promise<number> {
  const { rows } = await db.query<{ total: number }>({
    name: 'aggregator-count-resources',
    text: 'select count(*) as total from raadsfeed.stand where organisatiecode = $1::text',
    values: [organisatiecode],
  });
  return rows[0]?.total ?? 0;
}
