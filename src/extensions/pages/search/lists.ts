/** What pages list, from the index: resources by what they have, by what they refer to, and the bodies of an organisation. */
import type { Db } from '../../../database/transaction.ts';
import type { JsonObject } from '../../../lib/json/json-value.ts';
import type { Resource, ResourceType } from '../../../raadsfeed/domain/resource.ts';

/** A resource as lists show it. */
export interface Item {
  readonly sequenceNumber: number;
  readonly organisatiecode: string;
  readonly resourceType: ResourceType;
  readonly bronidentificatie: string;
  readonly storedAt: Date;
  readonly titel: string;
  readonly datum: Date | null;
  readonly soort: string | null;
  readonly vergadering: string | null;
  readonly gremium: string | null;
  readonly gremiumnaam: string | null;
  readonly kort: JsonObject;
}

export const ITEM = `s.nummer as "sequenceNumber", s.organisatiecode, s.resource_type as "resourceType", s.bronidentificatie,
  s.stored_at as "storedAt", s.titel, s.datum, s.soort, s.vergadering, s.gremium, s.gremiumnaam, s.kort`;
/** Joins only what the feed still has: a redaction takes effect with its commit. */
export const CURRENT = `join raadsfeed.current_records c on c.sequence_number = s.nummer`;

export interface ItemFilter {
  readonly resourceType?: ResourceType | undefined;
  readonly organisatiecode?: string | undefined;
  readonly bronidentificatie?: string | undefined;
  readonly gremium?: string | undefined;
  /** The meeting of an item. */
  readonly vergadering?: string | undefined;
  readonly from?: Date | undefined;
  /** Up to, not including. */
  readonly to?: Date | undefined;
}

/** The conditions of a filter on the row `s`. Only those that there are, for each set of them has an index of its own. @param values gets what they compare with */
export function conditionsOf(filter: ItemFilter, values: unknown[]): string {
  const conditions: string[] = [];
  const add = (value: unknown, condition: string): void => {
    if (value !== undefined) conditions.push(`${condition} $${values.push(value)}`);
  };
  add(filter.resourceType, 's.resource_type =');
  add(filter.organisatiecode, 's.organisatiecode =');
  add(filter.bronidentificatie, 's.bronidentificatie =');
  add(filter.gremium, 's.gremium =');
  add(filter.vergadering, 's.vergadering =');
  add(filter.from, 's.datum >=');
  add(filter.to, 's.datum <');
  return conditions.length === 0 ? 'true' : conditions.join(' and ');
}

const ORDERS = {
  newest: 's.datum desc nulls last, s.nummer desc',
  oldest: 's.datum asc nulls first, s.nummer asc',
} as const;
export const NEWEST = ORDERS.newest;

export async function listItems(
  db: Db,
  { order = 'newest', limit, ...filter }: ItemFilter & { readonly order?: keyof typeof ORDERS; readonly limit: number },
): Promise<Item[]> {
  const values: unknown[] = [];
  const conditions = conditionsOf(filter, values);
  const { rows } = await db.query<Item>({
    text: `select ${ITEM} from pages.items s ${CURRENT} where ${conditions} order by ${ORDERS[order]} limit $${values.push(limit)}`,
    values,
  });
  return rows;
}

/** An item with its reference. */
export interface Linked extends Item {
  /** The resource that is referred to. */
  readonly naar: string;
  readonly rol: string;
}

const ENDS = {
  from: ['v.organisatiecode', 'v.van_type', 'v.van'],
  to: ['v.naar_organisatie', 'v.naar_type', 'v.naar'],
} as const;

/** What refers `to` resources of one kind, or what they refer to: the references `from` them. */
export async function listLinked(
  db: Db,
  direction: 'from' | 'to',
  of: Pick<Resource, 'organisatiecode'> & {
    readonly resourceType: ResourceType;
    readonly bronidentificaties: readonly string[];
  },
  limit: number,
): Promise<Linked[]> {
  const [code, type, id] = ENDS[direction];
  const [otherCode, otherType, otherId] = ENDS[direction === 'from' ? 'to' : 'from'];
  const { rows } = await db.query<Linked>({
    name: `pages-linked-${direction}`,
    text: `select ${ITEM}, v.naar, v.rol
             from pages.links v
             join pages.items s on s.organisatiecode = ${otherCode} and s.resource_type = ${otherType} and s.bronidentificatie = ${otherId}
             ${CURRENT}
            where ${code} = $1::text and ${type} = $2::text and ${id} = any ($3::text[])
            order by s.datum desc nulls last, s.nummer
            limit $4::integer`,
    values: [of.organisatiecode, of.resourceType, of.bronidentificaties, limit],
  });
  return rows;
}

/** A body of an organisation, with what the feed has of it. */
export interface Body {
  readonly gremium: string;
  readonly naam: string;
  readonly vergaderingen: number;
  readonly laatste: Date | null;
}

export async function listBodies(db: Db, organisatiecode: string, limit: number): Promise<Body[]> {
  const { rows } = await db.query<Body>({
    name: 'pages-bodies',
    text: `select s.gremium, max(s.gremiumnaam) as naam, count(*) as vergaderingen, max(s.datum) as laatste
             from pages.items s ${CURRENT}
            where s.organisatiecode = $1::text and s.resource_type = 'Vergadering' and s.gremium is not null
            group by s.gremium order by 2, 1 limit $2::integer`,
    values: [organisatiecode, limit],
  });
  return rows;
}

/** Numbers of one sitemap. */
const SITEMAP_NUMBERS = 10_000;

/** The sitemaps that have something in them, with their latest change. */
export async function listSitemaps(db: Db): Promise<{ page: number; changed: Date }[]> {
  const { rows } = await db.query<{ page: number; changed: Date }>({
    name: 'pages-sitemaps',
    text: `select (nummer / ${SITEMAP_NUMBERS})::integer as page, max(stored_at) as changed from pages.items
            where resource_type <> 'Agendapunt' group by 1 order by 1 limit 50000`,
  });
  return rows;
}

/** What one sitemap lists. Its bounds are numbers of the feed, so it changes only where something was changed. */
export async function listSitemap(db: Db, page: number): Promise<Item[]> {
  const { rows } = await db.query<Item>({
    name: 'pages-sitemap',
    text: `select ${ITEM} from pages.items s ${CURRENT}
            where s.nummer >= $1::bigint and s.nummer < $2::bigint and s.resource_type <> 'Agendapunt' order by s.nummer`,
    values: [page * SITEMAP_NUMBERS, (page + 1) * SITEMAP_NUMBERS],
  });
  return rows;
}
