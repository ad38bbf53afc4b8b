/** The lists that pages show, from the index: meetings, items of a meeting, documents, bodies, and what refers to what. */
import type { Db } from '../../../database/transaction.ts';
import type { ResourceType } from '../../../raadsfeed/domain/resource.ts';
import { CURRENT, ITEM, type Item } from './find.ts';

interface MeetingFilter {
  readonly organisatiecode?: string | undefined;
  readonly gremium?: string | undefined;
  readonly from?: Date | undefined;
  /** Up to, not including. */
  readonly to?: Date | undefined;
  readonly order: 'newest' | 'oldest';
  readonly limit: number;
}

/** Meetings of a period. @param filter its limit is a number of ours: each makes a statement of its own */
export async function listMeetings(
  db: Db,
  { organisatiecode, gremium, from, to, order, limit }: MeetingFilter,
): Promise<Item[]> {
  const { conditions, values, name } = filterList('Vergadering', { organisatiecode, gremium, from, to });
  const { rows } = await db.query<Item>({
    name: `${name}-${order}-${limit}`,
    text: `select ${ITEM} from pages.items s ${CURRENT}
            where ${conditions}
            order by s.datum ${order === 'newest' ? 'desc nulls last, s.nummer desc' : 'asc nulls first, s.nummer asc'}
            limit ${limit}`,
    values,
  });
  return rows;
}

interface DocumentFilter {
  readonly organisatiecode?: string | undefined;
  readonly gremium?: string | undefined;
  readonly offset?: number;
  readonly limit: number;
}

/** Documents, newest first. */
export async function listDocuments(
  db: Db,
  { organisatiecode, gremium, offset = 0, limit }: DocumentFilter,
): Promise<Item[]> {
  const { conditions, values, name } = filterList('Informatieobject', { organisatiecode, gremium });
  const { rows } = await db.query<Item>({
    name: `${name}-${limit}`,
    text: `select ${ITEM} from pages.items s ${CURRENT}
            where ${conditions}
            order by s.datum desc nulls last, s.nummer desc
            limit ${limit} offset $${values.push(offset)}::integer`,
    values,
  });
  return rows;
}

/** Only the filters that there are, so that a statement is planned once for them: each set of filters has an index of its own. */
function filterList(
  resourceType: ResourceType,
  { organisatiecode, gremium, from, to }: Omit<MeetingFilter, 'order' | 'limit'>,
): { conditions: string; values: unknown[]; name: string } {
  const values: unknown[] = [];
  const conditions = [`s.resource_type = '${resourceType}'`];
  // Postgres cuts names at 63 characters.
  let name = `zoek-${resourceType}`;
  const add = (value: unknown, field: string, condition: (parameter: string) => string): void => {
    if (value === undefined) return;
    conditions.push(condition(`$${values.push(value)}`));
    name += `-${field}`;
  };
  add(organisatiecode, 'organisatie', (p) => `s.organisatiecode = ${p}::text`);
  add(gremium, 'gremium', (p) => `s.gremium = ${p}::text`);
  add(from?.toISOString(), 'van', (p) => `s.datum >= ${p}::timestamptz`);
  add(to?.toISOString(), 'tot', (p) => `s.datum < ${p}::timestamptz`);
  return { conditions: conditions.join(' and '), values, name };
}

/** Items of a meeting, in the order of the feed; the page orders them. */
export async function listItems(db: Db, organisatiecode: string, vergadering: string, limit: number): Promise<Item[]> {
  const { rows } = await db.query<Item>({
    name: 'raadsfeed-zoek-agenda',
    text: `select ${ITEM} from pages.items s ${CURRENT}
            where s.organisatiecode = $1::text and s.vergadering = $2::text and s.resource_type = 'Agendapunt'
            order by s.nummer
            limit $3::integer`,
    values: [organisatiecode, vergadering, limit],
  });
  return rows;
}

/** An item that refers to another resource. */
export interface Referring extends Item {
  /** The resource that it refers to. */
  readonly naar: string;
  readonly rol: string;
}

/** What refers to resources of one kind. */
export async function listReferring(
  db: Db,
  to: {
    readonly organisatiecode: string;
    readonly resourceType: ResourceType;
    readonly bronidentificaties: readonly string[];
  },
  from: ResourceType,
  limit: number,
): Promise<Referring[]> {
  if (to.bronidentificaties.length === 0) return [];
  const { rows } = await db.query<Referring>({
    name: 'raadsfeed-zoek-verwijst',
    text: `select ${ITEM}, v.naar, v.rol
             from pages.links v
             join pages.items s on s.organisatiecode = v.organisatiecode and s.resource_type = v.van_type and s.bronidentificatie = v.van
             ${CURRENT}
            where v.naar_organisatie = $1::text and v.naar_type = $2::text and v.naar = any ($3::text[]) and v.van_type = $4::text
            order by s.datum desc nulls last, s.nummer
            limit $5::integer`,
    values: [to.organisatiecode, to.resourceType, to.bronidentificaties, from, limit],
  });
  return rows;
}

/** Documents that refer to items of a meeting. */
export async function listItemDocuments(
  db: Db,
  organisatiecode: string,
  vergadering: string,
  limit: number,
): Promise<Referring[]> {
  const { rows } = await db.query<Referring>({
    name: 'raadsfeed-zoek-agendadocumenten',
    text: `select ${ITEM}, v.naar, v.rol
             from pages.items a
             join pages.links v on v.naar_organisatie = a.organisatiecode and v.naar_type = a.resource_type and v.naar = a.bronidentificatie
             join pages.items s on s.organisatiecode = v.organisatiecode and s.resource_type = v.van_type and s.bronidentificatie = v.van
             ${CURRENT}
            where a.organisatiecode = $1::text and a.vergadering = $2::text and a.resource_type = 'Agendapunt' and v.van_type = 'Informatieobject'
            order by s.datum desc nulls last, s.nummer
            limit $3::integer`,
    values: [organisatiecode, vergadering, limit],
  });
  return rows;
}

/** What a resource refers to, as far as it is in the feed. */
export async function listReferred(
  db: Db,
  of: { readonly organisatiecode: string; readonly resourceType: ResourceType; readonly bronidentificatie: string },
  limit: number,
): Promise<Referring[]> {
  const { rows } = await db.query<Referring>({
    name: 'raadsfeed-zoek-verwezen',
    text: `select ${ITEM}, v.naar, v.rol
             from pages.links v
             join pages.items s on s.organisatiecode = v.naar_organisatie and s.resource_type = v.naar_type and s.bronidentificatie = v.naar
             ${CURRENT}
            where v.organisatiecode = $1::text and v.van_type = $2::text and v.van = $3::text
            order by s.datum desc nulls last, s.nummer
            limit $4::integer`,
    values: [of.organisatiecode, of.resourceType, of.bronidentificatie, limit],
  });
  return rows;
}

/** One resource of the index. */
export async function findItem(
  db: Db,
  organisatiecode: string,
  resourceType: ResourceType,
  bronidentificatie: string,
): Promise<Item | undefined> {
  const { rows } = await db.query<Item>({
    name: 'raadsfeed-zoek-stuk',
    text: `select ${ITEM} from pages.items s ${CURRENT}
            where s.organisatiecode = $1::text and s.resource_type = $2::text and s.bronidentificatie = $3::text`,
    values: [organisatiecode, resourceType, bronidentificatie],
  });
  return rows[0];
}

/** The meetings of a body around one of them. */
export interface Neighbours {
  readonly earlier?: Item;
  readonly next?: Item;
}

/** The meetings of its body just before and just after a meeting. */
export async function findNeighbours(db: Db, organisatiecode: string, vergadering: string): Promise<Neighbours> {
  const near = (isNext: boolean): string => `
    (select ${ITEM}, ${isNext} as "isNext" from pages.items s ${CURRENT}
      where s.organisatiecode = z.organisatiecode and s.resource_type = 'Vergadering' and s.gremium = z.gremium
        and s.datum ${isNext ? '>' : '<'} z.datum and s.nummer <> z.nummer
      order by s.datum ${isNext ? '' : 'desc'} limit 1)`;
  const { rows } = await db.query<Item & { isNext: boolean }>({
    name: 'raadsfeed-zoek-buren',
    text: `select n.*
             from pages.items z cross join lateral (${near(false)} union all ${near(true)}) n
            where z.organisatiecode = $1::text and z.resource_type = 'Vergadering' and z.bronidentificatie = $2::text`,
    values: [organisatiecode, vergadering],
  });
  const earlier = rows.find(({ isNext }) => !isNext);
  const next = rows.find(({ isNext }) => isNext);
  return { ...(earlier === undefined ? {} : { earlier }), ...(next === undefined ? {} : { next }) };
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
    name: 'raadsfeed-zoek-gremia',
    text: `select s.gremium, max(s.gremiumnaam) as naam, count(*) as vergaderingen, max(s.datum) as laatste
             from pages.items s ${CURRENT}
            where s.organisatiecode = $1::text and s.resource_type = 'Vergadering' and s.gremium is not null
            group by s.gremium order by 2, 1 limit $2::integer`,
    values: [organisatiecode, limit],
  });
  return rows;
}

/** How complete an organisation is in the index; counting stops at `most`. */
export interface Completeness {
  readonly vergaderingen: number;
  readonly agendapunten: number;
  readonly documenten: number;
  /** Documents without an address of a file. */
  readonly zonderBestand: number;
}

export async function readCompleteness(
  db: Db,
  organisatiecode: string,
  most: number,
): Promise<Completeness | undefined> {
  const some = (type: string, condition = ''): string =>
    `(select count(*) from (select from pages.items where organisatiecode = $1::text and resource_type = '${type}' ${condition} limit $2::integer) n)`;
  const { rows } = await db.query<Completeness>({
    name: 'raadsfeed-zoek-volledig',
    text: `select ${some('Vergadering')} as vergaderingen, ${some('Agendapunt')} as agendapunten, ${some('Informatieobject')} as documenten,
                  (select count(*) from (select kort from pages.items where organisatiecode = $1::text and resource_type = 'Informatieobject'
                                          limit $2::integer) n where not kort ? 'bestandsurl') as "zonderBestand"`,
    values: [organisatiecode, most],
  });
  return rows[0];
}

/** Numbers of one sitemap. */
export const SITEMAP_NUMBERS = 10_000;

/** The sitemaps that have something in them, with their latest change. */
export async function listSitemaps(db: Db): Promise<{ page: number; changed: Date }[]> {
  const { rows } = await db.query<{ page: number; changed: Date }>({
    name: 'raadsfeed-zoek-kaarten',
    text: `select (nummer / ${SITEMAP_NUMBERS})::integer as page, max(stored_at) as changed from pages.items
            where resource_type <> 'Agendapunt' group by 1 order by 1 limit 50000`,
  });
  return rows;
}

/** What one sitemap lists. Its bounds are numbers of the feed, so it changes only where something was changed. */
export async function listSitemap(
  db: Db,
  page: number,
): Promise<Pick<Item, 'organisatiecode' | 'resourceType' | 'bronidentificatie' | 'storedAt'>[]> {
  const { rows } = await db.query<Pick<Item, 'organisatiecode' | 'resourceType' | 'bronidentificatie' | 'storedAt'>>({
    name: 'raadsfeed-zoek-kaart',
    text: `select s.organisatiecode, s.resource_type as "resourceType", s.bronidentificatie, s.stored_at as "storedAt"
             from pages.items s ${CURRENT}
            where s.nummer >= $1::bigint and s.nummer < $2::bigint and s.resource_type <> 'Agendapunt' order by s.nummer`,
    values: [page * SITEMAP_NUMBERS, (page + 1) * SITEMAP_NUMBERS],
  });
  return rows;
}
