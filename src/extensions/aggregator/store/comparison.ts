/** Compares the state of a source with what the feed has of it: resources seen in its snapshot, and records taken from it. */

import type { Db } from '../../../database/transaction.ts';
import { isRecord } from '../../../lib/json/json-value.ts';
import type { Change, Upsert } from '../../../raadsfeed/domain/change.ts';
import { dataOf } from '../../../raadsfeed/domain/record-text.ts';
import type { Resource, ResourceType } from '../../../raadsfeed/domain/resource.ts';
import { type Lease, LeaseLostError } from '../source.ts';

/** A resource of a source; `number` is the number of its record. */
export interface SeenResource extends Pick<Change, 'resourceType' | 'resource'> {
  readonly number: number;
}

export async function markSeen(db: Db, sourceId: number, resources: readonly SeenResource[]): Promise<void> {
  if (resources.length === 0) return;
  await db.query({
    name: 'aggregator-mark-seen',
    text: `insert into aggregator.seen (bron_id, organisatiecode, resource_type, bronidentificatie, nummer)
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
  await db.query('delete from aggregator.seen where bron_id = $1::integer', [sourceId]);
}

/** How many resources of an organisation the feed has, and how many of those were not seen. */
export async function countMissing(
  db: Db,
  sourceId: number,
  organisatiecodes: readonly string[],
): Promise<{ organisatiecode: string; total: number; missing: number }[]> {
  const { rows } = await db.query<{ organisatiecode: string; total: number; missing: number }>(
    `select s.organisatiecode, count(*) as total, count(*) filter (where g.bron_id is null) as missing
       from raadsfeed.current_records s
       left join aggregator.seen g on g.bron_id = $1::integer and g.organisatiecode = s.organisatiecode
        and g.resource_type = s.resource_type and g.bronidentificatie = s.bronidentificatie
      where s.organisatiecode = any ($2::text[])
      group by s.organisatiecode`,
    [sourceId, organisatiecodes],
  );
  return rows;
}

/** The first `limit` resources of an organisation that the feed has and that were not seen. */
export async function findMissing(
  db: Db,
  sourceId: number,
  organisatiecode: string,
  limit: number,
): Promise<{ resourceType: ResourceType; resource: Resource }[]> {
  const { rows } = await db.query<{ resource_type: ResourceType; bronidentificatie: string }>(
    `select s.resource_type, s.bronidentificatie
       from raadsfeed.current_records s
      where s.organisatiecode = $2::text
        and not exists (select from aggregator.seen g
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
    'select exists (select from raadsfeed.current_records where organisatiecode = any ($1::text[])) as found',
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

/** Seconds after which a comparison with withheld deletes is repeated: the source may have everything again. */
const RETRY_SECONDS = 3600;

/** Ends a comparison, and stores by organisation how many deletes were withheld. @throws {LeaseLostError} */
export async function endComparison(
  db: Db,
  { source, number }: Lease,
  withheld: readonly { readonly organisatiecode: string; readonly missing: number }[],
): Promise<void> {
  const { rowCount } = await db.query(
    `update aggregator.bron
        set vergelijken = false, allow_mass_delete = false,
            -- Withheld deletes are compared again, and must then be redacted from our history as well.
            history_missed = history_missed and $3::boolean,
            compare_again_at = case when $3::boolean then now() + make_interval(secs => $4::integer) end
      where id = $1::integer and lease_number = $2::bigint`,
    [source.id, number, withheld.length > 0, RETRY_SECONDS],
  );
  if (rowCount !== 1) throw new LeaseLostError();
  await db.query(
    `update aggregator.bron_organisatie o set achtergehouden = coalesce(n.aantal, 0)
       from aggregator.bron_organisatie b
       left join unnest($2::text[], $3::integer[]) as n (organisatiecode, aantal) using (organisatiecode)
      where b.organisatiecode = o.organisatiecode and o.bron_id = $1::integer`,
    [source.id, withheld.map(({ organisatiecode }) => organisatiecode), withheld.map(({ missing }) => missing)],
  );
  await forgetSeen(db, source.id);
}

export interface TakenRecord {
  readonly op: 'upsert' | 'delete' | 'redact';
  readonly resourceType: ResourceType;
  readonly resource: Resource;
}

interface Named {
  readonly resource_type: ResourceType;
  readonly organisatiecode: string;
  readonly bronidentificatie: string;
}

function toResource({ organisatiecode, bronidentificatie }: Named): Resource {
  return { organisatiecode, bronidentificatie };
}

/** The records that were taken from these numbers of a feed, by number; the last one when a number was taken twice. */
export async function readTaken(
  db: Db,
  feedUrl: string,
  numbers: readonly number[],
): Promise<ReadonlyMap<number, TakenRecord>> {
  const { rows } = await db.query<Named & { readonly number: number; readonly op: TakenRecord['op'] }>({
    name: 'aggregator-taken',
    text: `select herkomst_nummer as number, op, resource_type, organisatiecode, bronidentificatie
             from raadsfeed.record
            where herkomst_feed = $1::text and herkomst_nummer = any ($2::bigint[])
            order by sequence_number`,
    values: [feedUrl, numbers],
  });
  return new Map(
    rows.map(({ number, op, ...row }) => [number, { op, resourceType: row.resource_type, resource: toResource(row) }]),
  );
}

/** The current record of a resource, in a form that can be published again, with its number in the snapshot. */
interface CurrentRecord {
  readonly change: Upsert;
  readonly seenNumber: number;
}

/** The current records of those resources that the snapshot being compared shows too. */
export async function readCurrentSeen(
  db: Db,
  sourceId: number,
  resources: readonly Pick<Upsert, 'resourceType' | 'resource'>[],
): Promise<CurrentRecord[]> {
  const { rows } = await db.query<
    Named & { readonly nummer: number; readonly prefix: string; readonly suffix: string; readonly hash: string }
  >({
    name: 'aggregator-standing',
    text: `select s.resource_type, s.organisatiecode, s.bronidentificatie, s.content_hash as hash, g.nummer, t.record_prefix as prefix, t.record_suffix as suffix
             from unnest($2::text[], $3::text[], $4::text[]) as n (organisatiecode, resource_type, bronidentificatie)
             join aggregator.seen g on g.bron_id = $1::integer and g.organisatiecode = n.organisatiecode
              and g.resource_type = n.resource_type and g.bronidentificatie = n.bronidentificatie and g.nummer is not null
             join raadsfeed.current_records s on s.organisatiecode = n.organisatiecode
              and s.resource_type = n.resource_type and s.bronidentificatie = n.bronidentificatie
             join raadsfeed.texts t on t.sequence_number = s.sequence_number`,
    values: [
      sourceId,
      resources.map(({ resource }) => resource.organisatiecode),
      resources.map(({ resourceType }) => resourceType),
      resources.map(({ resource }) => resource.bronidentificatie),
    ],
  });
  return rows.map(({ nummer, prefix, suffix, hash, ...row }) => {
    const named = { resourceType: row.resource_type, resource: toResource(row) };
    return {
      seenNumber: nummer,
      change: toUpsert(named, { prefix, dataText: dataOf(suffix, named), contentHash: hash }),
    };
  });
}

function toUpsert(
  named: Pick<Upsert, 'resourceType' | 'resource'>,
  { prefix, dataText, contentHash }: { prefix: string; dataText: string; contentHash: string },
): Upsert {
  // The stored prefix ends where the address of this service is inserted.
  const record: unknown = JSON.parse(`${prefix}"}`);
  const data: unknown = JSON.parse(dataText);
  if (!isRecord(record)) throw new TypeError('a stored record is not an object');
  const {
    sequenceNumber: _n,
    op: _o,
    resourceType: _t,
    resource: _r,
    storedAt: _s,
    resourceUrl: _u,
    ...members
  } = record;
  const { contentHash: published, gewijzigdOp, herkomst, aggregatorId, ...other } = members;
  const organisatie = isRecord(data) && isRecord(data.organisatie) ? data.organisatie : {};
  return {
    op: 'upsert',
    ...named,
    dataText,
    contentHash,
    ...(typeof published === 'string' && published !== contentHash ? { sourceHash: published } : {}),
    organisatienaam: typeof organisatie.naam === 'string' ? organisatie.naam : named.resource.organisatiecode,
    ...(typeof gewijzigdOp === 'string' ? { gewijzigdOp } : {}),
    ...(isRecord(herkomst) && typeof herkomst.feedUrl === 'string' && typeof herkomst.sequenceNumber === 'number'
      ? { herkomst: { feedUrl: herkomst.feedUrl, sequenceNumber: herkomst.sequenceNumber } }
      : {}),
    ...(typeof aggregatorId === 'string' ? { aggregatorId } : {}),
    other,
  };
}
