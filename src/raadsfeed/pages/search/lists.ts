/** Lists of pages, from the index: resources by their members and references, and the bodies of an organisation. */
import type { Db } from '../../../database/transaction.ts';
import type { Resource, ResourceType } from '../../../lib/feed/resource.ts';
import type { JsonObject } from '../../../lib/json/json-value.ts';

export interface Item extends Resource {
  readonly sequenceNumber: number;
  readonly resourceType: ResourceType;
  readonly storedAt: Date;
  /** The first record since the resource was added, whose number is the order in which a follower hears of new resources. */
  readonly firstNumber: number;
  readonly firstStoredAt: Date;
  readonly titel: string;
  readonly datum: Date | null;
  readonly soort: string | null;
  readonly vergadering: string | null;
  readonly gremium: string | null;
  readonly gremiumnaam: string | null;
  readonly summary: JsonObject;
}

export const ITEM = `s.number as "sequenceNumber", s.organisatiecode, s.resource_type as "resourceType", s.bronidentificatie,
  s.stored_at as "storedAt", s.first_number as "firstNumber", s.first_stored_at as "firstStoredAt",
  s.titel, s.datum, s.soort, s.vergadering, s.gremium, s.gremiumnaam, s.summary`;
/** Only items that the feed still has: a redaction takes effect with its commit. */
export const CURRENT = `join raadsfeed.current_records c on c.sequence_number = s.number`;

export interface ItemFilter {
  readonly resourceType?: ResourceType | undefined;
  readonly organisatiecode?: string | undefined;
  readonly gremium?: string | undefined;
  readonly vergadering?: string | undefined;
  readonly from?: Date | undefined;
  /** Up to, not including. */
  readonly to?: Date | undefined;
  /** First recorded before the one with this number. */
  readonly before?: number | undefined;
}

/** Conditions on the row `s`: only those in use, because each combination has an index of its own. @param values gets what they compare with */
export function conditionsOf(filter: ItemFilter, values: unknown[]): string {
  const conditions = CONDITIONS.flatMap(([name, condition]) =>
    filter[name] === undefined ? [] : [`${condition} $${values.push(filter[name])}`],
  );
  return conditions.length === 0 ? 'true' : conditions.join(' and ');
}

const CONDITIONS: readonly (readonly [keyof ItemFilter, string])[] = [
  ['resourceType', 's.resource_type ='],
  ['organisatiecode', 's.organisatiecode ='],
  ['gremium', 's.gremium ='],
  ['vergadering', 's.vergadering ='],
  ['from', 's.datum >='],
  ['to', 's.datum <'],
  ['before', 's.first_number <'],
];

export const ORDERS = {
  newest: 's.datum desc nulls last, s.number desc',
  oldest: 's.datum asc nulls first, s.number asc',
  stored: 's.first_number desc',
} as const;

interface Slice {
  readonly limit: number;
  readonly offset?: number;
}

export async function listItems(
  db: Db,
  { order = 'newest', limit, offset = 0, ...filter }: ItemFilter & Slice & { readonly order?: keyof typeof ORDERS },
): Promise<Item[]> {
  const values: unknown[] = [];
  const conditions = conditionsOf(filter, values);
  const { rows } = await db.query<Item>({
    text: `select ${ITEM} from pages.items s ${CURRENT} where ${conditions}
            order by ${ORDERS[order]} limit $${values.push(limit)} offset $${values.push(offset)}`,
    values,
  });
  return rows;
}

export interface Linked extends Item {
  readonly to: string;
  readonly rol: string;
}

const ENDS = {
  from: ['v.organisatiecode', 'v.from_type', 'v.from_id'],
  to: ['v.to_organisatiecode', 'v.to_type', 'v.to_id'],
} as const;

/** Documents by their day, the others in the order in which they are held. */
const linkedOrder = (of: ResourceType): string =>
  `s.datum ${of === 'Informatieobject' ? 'desc' : 'asc'} nulls last, s.number`;

/** References of one kind that lead `to` or `from` a resource. @param of a meeting's documents are those under none of its items */
export async function listLinked(
  db: Db,
  direction: 'from' | 'to',
  of: Resource & { readonly resourceType: ResourceType },
  wanted: ResourceType,
  { limit, offset = 0 }: Slice,
): Promise<Linked[]> {
  const [code, type, id] = ENDS[direction];
  const [otherCode, otherType, otherId] = ENDS[direction === 'from' ? 'to' : 'from'];
  const isLoose = of.resourceType === 'Vergadering' && wanted === 'Informatieobject';
  const { rows } = await db.query<Linked>({
    name: `pages-linked-${direction}-${wanted}${isLoose ? '-loose' : ''}`,
    text: `select ${ITEM}, v.to_id as "to", v.rol
             from pages.links v
             join pages.items s on s.organisatiecode = ${otherCode} and s.resource_type = ${otherType} and s.bronidentificatie = ${otherId}
             ${CURRENT}
            where ${code} = $1::text and ${type} = $2::text and ${id} = $3::text and ${otherType} = '${wanted}'
                  ${isLoose ? `and not exists (${UNDER_ITEM})` : ''}
            order by ${linkedOrder(wanted)}
            limit $4::integer offset $5::bigint`,
    values: [of.organisatiecode, of.resourceType, of.bronidentificatie, limit, offset],
  });
  return rows;
}

/** Whether a document also refers to an item of the meeting. `offset 0`: looked up row by row, even without statistics. */
const UNDER_ITEM = `
  select from pages.links w
    join pages.items a on a.organisatiecode = w.to_organisatiecode and a.resource_type = w.to_type and a.bronidentificatie = w.to_id
   where w.organisatiecode = v.organisatiecode and w.from_type = v.from_type and w.from_id = v.from_id and w.to_type = 'Agendapunt'
     and a.organisatiecode = v.to_organisatiecode and a.vergadering = v.to_id
   offset 0`;

export async function listDocumentsOf(
  db: Db,
  organisatiecode: string,
  agendapunten: readonly string[],
  ofEach: number,
): Promise<Linked[]> {
  const { rows } = await db.query<Linked>({
    name: 'pages-documents-of-items',
    text: `select d.* from unnest($2::text[]) as g (agendapunt)
            cross join lateral (
              select ${ITEM}, v.to_id as "to", v.rol from pages.links v
                join pages.items s on s.organisatiecode = v.organisatiecode and s.resource_type = v.from_type and s.bronidentificatie = v.from_id
                ${CURRENT}
               where v.to_organisatiecode = $1::text and v.to_type = 'Agendapunt' and v.to_id = g.agendapunt and v.from_type = 'Informatieobject'
               order by ${linkedOrder('Informatieobject')} limit $3::integer) d`,
    values: [organisatiecode, agendapunten, ofEach],
  });
  return rows;
}

export interface Outline {
  readonly bronidentificatie: string;
  readonly titel: string;
  readonly hoofd: string | null;
  readonly volgnummer: string | null;
  readonly geplandvolgnummer: string | null;
  /** Approximate bytes of its texts in lists, and of the names of its documents. */
  readonly bytes: number;
  readonly documenten: number;
  readonly documentBytes: number;
}

/** Every item of a meeting, by its own time, else in the order of the feed. */
export async function listOutline(
  db: Db,
  { organisatiecode, bronidentificatie }: Resource,
  limit: number,
): Promise<Outline[]> {
  const { rows } = await db.query<Outline>({
    name: 'pages-outline',
    text: `select s.bronidentificatie, left(s.titel, ${OUTLINE_TITLE}) as titel, s.summary ->> 'hoofd' as hoofd, s.summary ->> 'volgnummer' as volgnummer,
                  s.summary ->> 'geplandvolgnummer' as geplandvolgnummer, octet_length(s.titel) + octet_length(s.summary::text) as bytes,
                  d.documenten, d.bytes as "documentBytes"
             from pages.items s ${CURRENT}
            cross join lateral (
                  select count(*)::integer as documenten, coalesce(sum(octet_length(v.from_id)), 0)::integer as bytes from pages.links v
                   where v.to_organisatiecode = s.organisatiecode and v.to_type = 'Agendapunt' and v.to_id = s.bronidentificatie
                     and v.from_type = 'Informatieobject') d
            where s.organisatiecode = $1::text and s.vergadering = $2::text and s.resource_type = 'Agendapunt'
            order by ${ORDERS.oldest}
            limit $3::integer`,
    values: [organisatiecode, bronidentificatie, limit],
  });
  return rows;
}

export async function readIndexPosition(db: Db): Promise<unknown> {
  const { rows } = await db.query('select feed_id, number, scan_after from pages.position');
  return rows[0];
}

const OUTLINE_TITLE = 120;

export async function listNamed(
  db: Db,
  resourceType: ResourceType,
  organisatiecode: string,
  bronidentificaties: readonly string[],
): Promise<Map<string, Item>> {
  const { rows } = await db.query<Item>({
    name: 'pages-named',
    text: `select ${ITEM} from pages.items s ${CURRENT}
            where s.organisatiecode = $1::text and s.resource_type = $2::text and s.bronidentificatie = any ($3::text[])`,
    values: [organisatiecode, resourceType, bronidentificaties],
  });
  return new Map(rows.map((item) => [item.bronidentificatie, item]));
}

export interface Body {
  readonly gremium: string;
  readonly naam: string;
  readonly vergaderingen: number;
  readonly laatste: Date | null;
  readonly volgende: Date | null;
}

export async function listBodies(
  db: Db,
  { organisatiecode, gremium, now }: { organisatiecode: string; gremium?: string | undefined; now: Date },
  { limit, offset = 0 }: Slice,
): Promise<Body[]> {
  const { rows } = await db.query<Body>({
    // Looked up row by row: a free join would read the whole feed.
    text: `select s.gremium, max(s.gremiumnaam) as naam, count(*)::integer as vergaderingen,
                  max(s.datum) filter (where s.datum < $2::timestamptz) as laatste, min(s.datum) filter (where s.datum >= $2::timestamptz) as volgende
             from pages.items s
            where s.organisatiecode = $1::text and s.resource_type = 'Vergadering' and ${gremium === undefined ? 's.gremium is not null' : 's.gremium = $5::text'}
              and exists (select from raadsfeed.current_records c where c.sequence_number = s.number offset 0)
            group by s.gremium order by lower(max(s.gremiumnaam)), 1 limit $3::integer offset $4::bigint`,
    values: [organisatiecode, now, limit, offset, ...(gremium === undefined ? [] : [gremium])],
  });
  return rows;
}

const SITEMAP_NUMBERS = 10_000;

/** The sitemaps that are not empty, with their latest change: that of the last number, found from one sitemap to the previous one. */
export async function listSitemaps(db: Db): Promise<{ page: number; changed: Date }[]> {
  const { rows } = await db.query<{ page: number; changed: Date }>({
    name: 'pages-sitemaps',
    text: `with recursive last as (
             (select number, stored_at from pages.items order by number desc limit 1)
             union all
             select s.* from last cross join lateral (
               select number, stored_at from pages.items
                where number < last.number / ${SITEMAP_NUMBERS} * ${SITEMAP_NUMBERS} order by number desc limit 1) s)
           select (number / ${SITEMAP_NUMBERS})::integer as page, stored_at as changed from last order by 1 limit 50000`,
  });
  return rows;
}

/** Its bounds are numbers of the feed, so that only sitemaps with changes change. */
export async function listSitemap(db: Db, page: number): Promise<Item[]> {
  const { rows } = await db.query<Item>({
    name: 'pages-sitemap',
    text: `select ${ITEM} from pages.items s ${CURRENT}
            where s.number >= $1::bigint and s.number < $2::bigint order by s.number`,
    values: [page * SITEMAP_NUMBERS, (page + 1) * SITEMAP_NUMBERS],
  });
  return rows;
}
