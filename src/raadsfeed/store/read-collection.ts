import type { Db } from '../../kernel/database/db.ts';
import { dataOf } from '../domain/record-text.ts';
import type { ResourceType } from '../domain/resource-type.ts';
import { type Bounded, bounded, PAGE_OCTETS } from './page-budget.ts';

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
  const { rows } = await db.query<Row & { readonly octets: number }>({
    name: 'raadsfeed-collection',
    text: `select bronidentificatie, sequence_number, rest, octets
             from (select s.bronidentificatie, s.sequence_number, t.rest, octet_length(t.rest) as eigen,
                          sum(octet_length(t.rest)) over (order by s.bronidentificatie rows unbounded preceding) as octets
                     from (select bronidentificatie, sequence_number from raadsfeed.stand
                            where organisatiecode = $1::text and resource_type = $2::text and bronidentificatie > $3::text
                            order by bronidentificatie
                            limit $4::integer) s
                     join raadsfeed.tekst t
                       on t.deel = ((s.sequence_number >> 12) & 31) and t.sequence_number = s.sequence_number) g
            where octets - eigen < $5::bigint
            order by bronidentificatie`,
    values: [of.organisatiecode, of.resourceType, after, limit, PAGE_OCTETS],
  });
  return bounded(rows.map((row) => ({ ...toCurrent(row, of), octets: row.octets })));
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
