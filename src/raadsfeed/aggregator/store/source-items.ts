/** Stored items of a supplier, their parts, and the feed's documents. */
import type { Db } from '../../../database/transaction.ts';
import { dataOf } from '../../domain/record-text.ts';
import { columns } from '../../store/state.ts';
import type { DateWindow, KnownItem, Part, PartName, SourceData } from '../supplier/source-adapter.ts';

export async function readItemsIn(
  db: Db,
  sourceId: number,
  { from, to }: DateWindow,
  keys: readonly string[] = [],
): Promise<KnownItem[]> {
  const { rows } = await db.query<KnownItem>(
    `select p.key, p.day::text as day, p.parent, p.last_modified as "lastModified", p.read_again_after as "readAgainAfter",
            array(select d.part from aggregator.parts d
                   where d.source_id = p.source_id and d.item_key = p.key order by d.position) as parts
       from aggregator.items p
      where p.source_id = $1::integer and (p.day between $2::date and $3::date or p.key = any ($4::text[]))
      order by p.key`,
    [sourceId, from, to, keys],
  );
  return rows;
}

export async function readPartsElsewhere(
  db: Db,
  sourceId: number,
  parts: readonly PartName[],
  items: readonly string[],
): Promise<Part[]> {
  const { rows } = await db.query<{ part: Part }>(
    `select d.part
       from (select distinct * from unnest($3::text[], $4::text[]) as n (resource_type, bronidentificatie)) n
       join aggregator.parts d on d.source_id = $1::integer
            and d.resource_type = n.resource_type and d.bronidentificatie = n.bronidentificatie
      where d.item_key <> all ($2::text[])
      order by d.item_key, d.position`,
    [sourceId, items, ...columns(parts, 'resourceType', 'bronidentificatie')],
  );
  return rows.map(({ part }) => part);
}

export async function readMeetingsOf(
  db: Db,
  sourceId: number,
  agendapunten: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const { rows } = await db.query<{ bronidentificatie: string; meeting: string }>(
    `select bronidentificatie, min(item_key) as meeting from aggregator.parts
      where source_id = $1::integer and resource_type = 'Agendapunt' and bronidentificatie = any ($2::text[])
      group by bronidentificatie`,
    [sourceId, agendapunten],
  );
  return new Map(rows.map(({ bronidentificatie, meeting }) => [bronidentificatie, meeting]));
}

export async function saveItems(db: Db, sourceId: number, items: readonly KnownItem[]): Promise<void> {
  if (items.length === 0) return;
  await db.query(
    `insert into aggregator.items as p (source_id, key, day, parent, last_modified, read_again_after)
     select $1::integer, * from unnest($2::text[], $3::date[], $4::text[], $5::text[], $6::text[])
         on conflict (source_id, key) do update
        set day = excluded.day, parent = excluded.parent, last_modified = excluded.last_modified,
            read_again_after = excluded.read_again_after`,
    [sourceId, ...columns(items, 'key', 'day', 'parent', 'lastModified', 'readAgainAfter')],
  );
  const keys = items.map(({ key }) => key);
  await db.query('delete from aggregator.parts where source_id = $1::integer and item_key = any ($2::text[])', [
    sourceId,
    keys,
  ]);
  const parts = items.flatMap(({ key, parts: own }) =>
    own.map((part, order) => ({ ...part, key, order, part: JSON.stringify(part) })),
  );
  await db.query(
    `insert into aggregator.parts (source_id, item_key, position, resource_type, bronidentificatie, part)
     select $1::integer, * from unnest($2::text[], $3::integer[], $4::text[], $5::text[], $6::jsonb[])`,
    [sourceId, ...columns(parts, 'key', 'order', 'resourceType', 'bronidentificatie', 'part')],
  );
}

export async function deleteItems(db: Db, sourceId: number, items: readonly string[]): Promise<void> {
  await db.query('delete from aggregator.items where source_id = $1::integer and key = any ($2::text[])', [
    sourceId,
    items,
  ]);
}

export async function readCurrentDocuments(
  db: Db,
  organisatiecode: string,
  names: readonly string[],
): Promise<ReadonlyMap<string, SourceData>> {
  const resourceType = 'Informatieobject';
  const { rows } = await db.query<{ bronidentificatie: string; suffix: string }>(
    `select s.bronidentificatie, t.record_suffix as suffix
       from raadsfeed.current_records s
       join raadsfeed.texts t on t.sequence_number = s.sequence_number
      where s.organisatiecode = $1::text and s.resource_type = $2::text and s.bronidentificatie = any ($3::text[])`,
    [organisatiecode, resourceType, names],
  );
  return new Map(
    rows.map(({ bronidentificatie, suffix }) => {
      const resource = { organisatiecode, bronidentificatie };
      const data: SourceData = JSON.parse(dataOf(suffix, { resourceType, resource }));
      return [bronidentificatie, data];
    }),
  );
}

export async function countResources(db: Db, organisatiecode: string): Promise<number> {
  const text = 'select count(*) as total from raadsfeed.current_records where organisatiecode = $1::text';
  const { rows } = await db.query<{ total: number }>(text, [organisatiecode]);
  return rows[0]?.total ?? 0;
}
