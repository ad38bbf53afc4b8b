/** Compares a source with the feed: resources seen in its snapshot, and records taken from it. */
import type { Db } from '../../../database/transaction.ts';
import type { NamedResource, Resource } from '../../../lib/feed/resource.ts';
import { columns, columnsOf } from '../../store/state.ts';
import { type Lease, LeaseLostError, type Source } from '../source.ts';

export async function markSeen(db: Db, sourceId: number, resources: readonly NamedResource[]): Promise<void> {
  if (resources.length === 0) return;
  await db.query(
    `insert into aggregator.seen (source_id, organisatiecode, resource_type, bronidentificatie)
     select $1::integer, * from unnest($2::text[], $3::text[], $4::text[]) on conflict do nothing`,
    [sourceId, ...columnsOf(resources)],
  );
}

export async function forgetSeen(db: Db, sourceId: number): Promise<void> {
  await db.query('delete from aggregator.seen where source_id = $1::integer', [sourceId]);
}

export async function countMissing(db: Db, sourceId: number, organisatiecodes: readonly string[]) {
  const { rows } = await db.query<{ organisatiecode: string; total: number; missing: number }>(
    `select s.organisatiecode, count(*) as total, count(*) filter (where g.source_id is null) as missing
       from raadsfeed.current_records s
       left join aggregator.seen g on g.source_id = $1::integer and g.organisatiecode = s.organisatiecode
        and g.resource_type = s.resource_type and g.bronidentificatie = s.bronidentificatie
      where s.organisatiecode = any ($2::text[])
      group by s.organisatiecode`,
    [sourceId, organisatiecodes],
  );
  return rows;
}

export async function findMissing(
  db: Db,
  sourceId: number,
  organisatiecode: string,
  limit: number,
): Promise<NamedResource[]> {
  const { rows } = await db.query<NamedResource>(
    `select s.resource_type as "resourceType",
            json_build_object('organisatiecode', s.organisatiecode, 'bronidentificatie', s.bronidentificatie) as resource
       from raadsfeed.current_records s
      where s.organisatiecode = $2::text
        and not exists (select from aggregator.seen g
                         where g.source_id = $1::integer and g.organisatiecode = s.organisatiecode
                           and g.resource_type = s.resource_type and g.bronidentificatie = s.bronidentificatie)
      order by s.sequence_number
      limit $3::integer`,
    [sourceId, organisatiecode, limit],
  );
  return rows;
}

export async function hasRecords(db: Db, organisatiecodes: readonly string[]): Promise<boolean> {
  const { rows } = await db.query<{ found: boolean }>(
    'select exists (select from raadsfeed.records where organisatiecode = any ($1::text[])) as found',
    [organisatiecodes],
  );
  return rows[0]?.found ?? false;
}

/** The source may have all resources again. */
const RETRY_SECONDS = 3600;

export async function endComparison(
  db: Db,
  { source, number }: Lease,
  withheld: readonly { readonly organisatiecode: string; readonly missing: number }[],
): Promise<void> {
  const { rowCount } = await db.query(
    `update aggregator.sources
        set is_comparing = false, allow_mass_delete = false,
            -- Withheld deletes are compared again, and must then be redacted from our history as well.
            history_missed = history_missed and $3::boolean,
            compare_again_at = case when $3::boolean then now() + make_interval(secs => $4::integer) end
      where id = $1::integer and lease_number = $2::bigint`,
    [source.id, number, withheld.length > 0, RETRY_SECONDS],
  );
  if (rowCount !== 1) throw new LeaseLostError();
  await db.query(
    `update aggregator.source_organisations o set withheld = coalesce(n.count, 0)
       from aggregator.source_organisations b
       left join unnest($2::text[], $3::integer[]) as n (organisatiecode, count) using (organisatiecode)
      where b.organisatiecode = o.organisatiecode and o.source_id = $1::integer`,
    [source.id, ...columns(withheld, 'organisatiecode', 'missing')],
  );
  await forgetSeen(db, source.id);
}

/** Repeats, or ends, the comparison of items outside the period of a supplier's source. */
export async function compareAgain(db: Db, { source, number }: Lease, again: boolean): Promise<void> {
  await db.query(
    `update aggregator.sources set compare_again_at = case when $3::boolean then now() + make_interval(secs => $4::integer) end
      where id = $1::integer and lease_number = $2::bigint`,
    [source.id, number, again, RETRY_SECONDS],
  );
}

export interface TakenRecord extends NamedResource {
  readonly op: 'upsert' | 'delete' | 'redact';
}

/** By number; the last record of a number that was read twice. Another source may name the same feed, so only of the source's own organisations. */
export async function readTaken(
  db: Db,
  { id, feedUrl }: Pick<Source, 'id' | 'feedUrl'>,
  numbers: readonly number[],
): Promise<ReadonlyMap<number, TakenRecord>> {
  const { rows } = await db.query<Omit<TakenRecord, 'resource'> & Resource & { readonly number: number }>({
    name: 'aggregator-taken',
    text: `select herkomst_number as number, op, resource_type as "resourceType", organisatiecode, bronidentificatie
             from raadsfeed.records
             join aggregator.source_organisations o using (organisatiecode)
            where o.source_id = $3::integer and herkomst_feed = $1::text and herkomst_number = any ($2::bigint[])
            order by sequence_number`,
    values: [feedUrl, numbers, id],
  });
  return new Map(rows.map(({ number, op, resourceType, ...resource }) => [number, { op, resourceType, resource }]));
}
