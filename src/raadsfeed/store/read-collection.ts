import type { Db } from '../../kernel/database/db.ts';
import { dataOf } from '../domain/record-text.ts';
import type { ResourceType } from '../domain/resource-type.ts';
import { type Bounded, type PageRow, pageStatement, readPage } from './page-budget.ts';

/** A resource that is there now. */
export interface CurrentResource {
  readonly bronidentificatie: string;
  readonly sequenceNumber: number;
  /** `data` as it was published. */
  readonly dataText: string;
}

interface Row {
  readonly bronidentificatie: string;
  readonly sequence_number: number;
  readonly rest: string;
}

/** The first `limit` resources of one kind and organisation after a name, in the order of their names, or as many as `PAGE_OCTETS` allow. */
export async function readCollection(
  db: Db,
  of: { organisatiecode: string; resourceType: ResourceType },
  after: string,
  limit: number,
): Promise<Bounded<CurrentResource>> {
  const places = `select bronidentificatie, sequence_number from raadsfeed.stand
                   where organisatiecode = $2::text and resource_type = $3::text and bronidentificatie > $4::text
                   order by bronidentificatie
                   limit $5::integer`;
  const { found, isCut } = await readPage<PageRow & Row>(limit, async (careful, octets) => {
    const { rows } = await db.query<PageRow & Row>({
      name: `raadsfeed-collection${careful ? '-careful' : ''}`,
      text: pageStatement(careful, { places, columns: ['bronidentificatie'], order: 'bronidentificatie' }),
      values: [octets, of.organisatiecode, of.resourceType, after, limit],
    });
    return rows;
  });
  return { found: found.map((row) => toCurrent(row, of)), isCut };
}

/** One resource as it is now; `undefined` when it is unknown or was removed. */
export async function readResource(
  db: Db,
  of: { organisatiecode: string; resourceType: ResourceType; bronidentificatie: string },
): Promise<CurrentResource | undefined> {
  const { rows } = await db.query<Row>({
    name: 'raadsfeed-resource',
    text: `select s.bronidentificatie, s.sequence_number, t.rest
             from raadsfeed.stand s
             join raadsfeed.tekst t on t.deel = ((s.sequence_number >> 12) & 31) and t.sequence_number = s.sequence_number
            where s.organisatiecode = $1::text and s.resource_type = $2::text and s.bronidentificatie = $3::text`,
    values: [of.organisatiecode, of.resourceType, of.bronidentificatie],
  });
  return rows[0] && toCurrent(rows[0], of);
}

function toCurrent(
  row: Row,
  { organisatiecode, resourceType }: { organisatiecode: string; resourceType: ResourceType },
) {
  const { bronidentificatie, sequence_number: sequenceNumber, rest } = row;
  const dataText = dataOf(rest, { resourceType, resource: { organisatiecode, bronidentificatie } });
  return { bronidentificatie, sequenceNumber, dataText };
}
