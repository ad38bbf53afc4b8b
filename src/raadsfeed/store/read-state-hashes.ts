import type { Db } from '../../kernel/database/db.ts';
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
    text: `select organisatiecode, resource_type, bronidentificatie, stand.content_hash
             from unnest($1::text[], $2::text[], $3::text[]) as gevraagd (organisatiecode, resource_type, bronidentificatie)
             join raadsfeed.stand using (organisatiecode, resource_type, bronidentificatie)`,
    values: [
      resources.map(({ resource }) => resource.organisatiecode),
      resources.map(({ resourceType }) => resourceType),
      resources.map(({ resource }) => resource.bronidentificatie),
    ],
  });
  return new Map(rows.map((row) => [resourceKey(row.resource_type, row), row.content_hash]));
}
