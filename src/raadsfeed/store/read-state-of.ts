import type { Db } from '../../kernel/database/transaction.ts';
import type { Resource } from '../domain/resource.ts';
import type { ResourceType } from '../domain/resource-type.ts';

export interface PresentResource {
  readonly resourceType: ResourceType;
  readonly resource: Resource;
}

/** Every resource of an organisation that is there, as it was recorded up to and including `upTo`. */
export async function readStateOf(db: Db, organisatiecode: string, upTo: number): Promise<PresentResource[]> {
  const { rows } = await db.query<{ resource_type: ResourceType; bronidentificatie: string }>(
    `select resource_type, bronidentificatie
       from raadsfeed.stand
      where organisatiecode = $1::text and sequence_number <= $2::bigint
      order by sequence_number`,
    [organisatiecode, upTo],
  );
  return rows.map(({ resource_type: resourceType, bronidentificatie }) => ({
    resourceType,
    resource: { organisatiecode, bronidentificatie },
  }));
}
