/** What was seen while the state of a source is compared with ours. */
import type { Db } from '../../../kernel/database/transaction.ts';
import type { Change } from '../../domain/change.ts';
import type { Resource, ResourceType } from '../../domain/resource.ts';

/** A resource that a source has; `number` is that of the record that says so. */
export interface SeenResource extends Pick<Change, 'resourceType' | 'resource'> {
  readonly number: number;
}

export async function markSeen(db: Db, sourceId: number, resources: readonly SeenResource[]): Promise<void> {
  if (resources.length === 0) return;
  await db.query({
    name: 'aggregator-mark-seen',
    text: `insert into aggregator.gezien (bron_id, organisatiecode, resource_type, bronidentificatie, nummer)
           select $1::integer, organisatiecode, resource_type, bronidentificatie, max(nummer)
             from unnest($2::text[], $3::text[], $4::text[], $5::bigint[]) as n (organisatiecode, resource_type, bronidentificatie, nummer)
            group by organisatiecode, resource_type, bronidentificatie
               on conflict (bron_id, organisatiecode, resource_type, bronidentificatie) do update set nummer = excluded.nummer`,
    values: [
      sourceId,
      resources.map(({ resource }) => resource.organisatiecode),
      resources.map(({ resourceType }) => resourceType),
      resources.map(({ resource }) => resource.bronidentificatie),
      resources.map(({ number }) => number),
    ],
  });
}

export async function forgetSeen(db: Db, sourceId: number): Promise<void> {
  await db.query('delete from aggregator.gezien where bron_id = $1::integer', [sourceId]);
}

/** How many resources of an organisation the feed has, and how many of those were not seen. */
export async function countGone(
  db: Db,
  sourceId: number,
  organisatiecodes: readonly string[],
): Promise<{ organisatiecode: string; total: number; gone: number }[]> {
  const { rows } = await db.query<{ organisatiecode: string; total: number; gone: number }>(
    `select s.organisatiecode, count(*) as total, count(*) filter (where g.bron_id is null) as gone
       from raadsfeed.stand s
       left join aggregator.gezien g on g.bron_id = $1::integer and g.organisatiecode = s.organisatiecode
        and g.resource_type = s.resource_type and g.bronidentificatie = s.bronidentificatie
      where s.organisatiecode = any ($2::text[])
      group by s.organisatiecode`,
    [sourceId, organisatiecodes],
  );
  return rows;
}

/** The first `limit` resources of an organisation that the feed has and that were not seen. */
export async function findGone(
  db: Db,
  sourceId: number,
  organisatiecode: string,
  limit: number,
): Promise<{ resourceType: ResourceType; resource: Resource }[]> {
  const { rows } = await db.query<{ resource_type: ResourceType; bronidentificatie: string }>(
    `select s.resource_type, s.bronidentificatie
       from raadsfeed.stand s
      where s.organisatiecode = $2::text
        and not exists (select from aggregator.gezien g
                         where g.bron_id = $1::integer and g.organisatiecode = s.organisatiecode
                           and g.resource_type = s.resource_type and g.bronidentificatie = s.bronidentificatie)
      order by s.sequence_number
      limit $3::integer`,
    [sourceId, organisatiecode, limit],
  );
  return rows.map(({ resource_type: resourceType, bronidentificatie }) => ({
    resourceType,
    resource: { organisatiecode, bronidentificatie },
  }));
}

/** Whether the feed has anything of these organisations. */
export async function hasState(db: Db, organisatiecodes: readonly string[]): Promise<boolean> {
  const { rows } = await db.query<{ found: boolean }>(
    'select exists (select from raadsfeed.stand where organisatiecode = any ($1::text[])) as found',
    [organisatiecodes],
  );
  return rows[0]?.found ?? false;
}

/** Whether the feed ever had anything of these organisations. */
export async function hasRecords(db: Db, organisatiecodes: readonly string[]): Promise<boolean> {
  const { rows } = await db.query<{ found: boolean }>(
    'select exists (select from raadsfeed.record where organisatiecode = any ($1::text[])) as found',
    [organisatiecodes],
  );
  return rows[0]?.found ?? false;
}
