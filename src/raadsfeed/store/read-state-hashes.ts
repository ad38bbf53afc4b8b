import { arrayOf, type Db } from '../../kernel/database/transaction.ts';
import type { Resource } from '../domain/resource.ts';
import { resourceKey } from '../domain/resource.ts';
import type { ResourceType } from '../domain/resource-type.ts';

/** `contentHash` of the current state of each of these resources that is there, by `resourceKey`. */
export async function readStateHashes(
  db: Db,
  resources: readonly { readonly resourceType: ResourceType; readonly resource: Resource }[],
): Promise<Map<string, string>> {
  const { rows } = await db.query<{
    organisatiecode: string;
    resource_type: ResourceType;
    bronidentificatie: string;
    content_hash: string;
  }>({
    name: 'raadsfeed-state-hashes',
    // Row by row: joined freely, the planner would read the whole state whenever it has no statistics yet.
    text: `select s.organisatiecode, s.resource_type, s.bronidentificatie, s.content_hash
             from unnest($1::text[], $2::text[], $3::text[]) as g (organisatiecode, resource_type, bronidentificatie)
            cross join lateral (select organisatiecode, resource_type, bronidentificatie, content_hash
                                  from raadsfeed.stand
                                 where stand.organisatiecode = g.organisatiecode
                                   and stand.resource_type = g.resource_type
                                   and stand.bronidentificatie = g.bronidentificatie
                                 limit 1) as s`,
    values: [
      arrayOf.text(resources.map(({ resource }) => resource.organisatiecode)),
      arrayOf.text(resources.map(({ resourceType }) => resourceType)),
      arrayOf.text(resources.map(({ resource }) => resource.bronidentificatie)),
    ],
  });
  return new Map(rows.map((row) => [resourceKey(row.resource_type, row), row.content_hash]));
}
