/**
 * Search over the index. Whatever the index still holds, a result is only shown while the feed has that very record: a redaction takes
 * effect here with its commit.
 */
import type { Db } from '../../../database/transaction.ts';
import { isRecord, type JsonObject } from '../../../lib/json/json-value.ts';
import type { ResourceType } from '../../../raadsfeed/domain/resource.ts';
import { type SearchQuery, tsquery } from './fold.ts';

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
/** Joins only what the feed still has. */
export const CURRENT = `join raadsfeed.current_records c on c.sequence_number = s.nummer`;

export interface SearchFilter {
  readonly organisatiecode?: string | undefined;
  readonly gremium?: string | undefined;
  readonly resourceType?: ResourceType | undefined;
  /** First and last day, as `2018-02-08`. */
  readonly from?: string | undefined;
  readonly to?: string | undefined;
}

export interface SearchRequest extends SearchFilter {
  /** Absent: everything that passes the filter. */
  readonly query?: SearchQuery | undefined;
  readonly sort: 'relevantie' | 'datum';
  readonly offset: number;
  readonly limit: number;
}

export interface Facet {
  readonly value: string;
  readonly label: string;
  readonly count: number;
}

export interface SearchResult {
  readonly items: readonly Item[];
  /** At most `MOST_FOUND`; more than that are not counted. */
  readonly total: number;
  readonly organisations: readonly Facet[];
  readonly types: readonly Facet[];
  /** When one organisation was asked for: identifications of bodies are an organisation's own. */
  readonly bodies: readonly Facet[];
}

/** Of more results the newest so many are ranked, counted and shown. */
export const MOST_FOUND = 2000;
/** Of words that more rows have, the newest results are found sooner in the order of the days than by the index of words. */
const COMMON = 20_000;

export async function search(db: Db, request: SearchRequest): Promise<SearchResult> {
  const { query, sort, offset, limit, organisatiecode } = request;
  const { conditions, values } = filterOf(request);
  const parameter = (value: unknown): string => `$${values.push(value)}`;
  const words = query && tsquery(parameter(query.web), parameter(query.beginnings));
  const hasWords = words === undefined ? 'true' : `s.woorden @@ ${words}`;
  const filter = conditions.length === 0 ? 'true' : conditions.join(' and ');
  const newest = 's.datum desc nulls last, s.nummer desc';
  // `offset 0`: the rows are checked for the words one by one, the newest first, until there are enough.
  const found =
    query === undefined || (await isCommon(db, query))
      ? `(select * from pages.items s where ${filter} order by ${newest} offset 0) s where ${hasWords}`
      : `pages.items s where ${hasWords} and ${filter} order by ${newest}`;
  const order = sort === 'relevantie' && words !== undefined ? `ts_rank(s.woorden, ${words}) desc, ${newest}` : newest;
  const { rows } = await db.query<Item & { facets: unknown }>({
    // Without a name: planned for its words and filters, which differ a thousandfold in how much they find.
    text: `with hits as materialized (
             select s.* from ${found} limit ${MOST_FOUND + 1}),
           shown as (
             select s.place, ${ITEM} from (select s.*, row_number() over (order by ${order}) as place from hits s) s ${CURRENT}
              where s.place > ${parameter(offset)}::integer and s.place <= ${parameter(offset + limit)}::integer)
           select shown.*, facets from (
             select json_build_object(
               'total', (select count(*) from hits),
               'types', ${countsOf('resource_type')},
               'organisations', ${countsOf('organisatiecode')},
               'bodies', ${organisatiecode === undefined ? 'null' : countsOf('gremium', 'gremiumnaam')}) as facets) f
             left join shown on true
            order by place`,
    values,
  });
  const facets = isRecord(rows[0]?.facets) ? rows[0].facets : {};
  return {
    // Without results there is one row, with the facets alone.
    items: rows.filter(({ sequenceNumber }) => sequenceNumber !== null),
    total: Number(facets.total ?? 0),
    types: toFacets(facets.types),
    organisations: toFacets(facets.organisations),
    bodies: toFacets(facets.bodies),
  };
}

async function isCommon(db: Db, { web, beginnings }: SearchQuery): Promise<boolean> {
  const { rows } = await db.query<{ count: number }>({
    name: 'raadsfeed-zoek-veel',
    text: `select count(*)::integer as count
             from (select from pages.items s where s.woorden @@ ${tsquery('$1', '$2')} limit ${COMMON + 1}) s`,
    values: [web, beginnings],
  });
  return (rows[0]?.count ?? 0) > COMMON;
}

/** Values of a facet that are counted. */
const FACETS = 20;

function countsOf(column: string, label = column): string {
  return `(select json_agg(f) from (select ${column} as value, max(${label}) as label, count(*) from hits
            where ${column} is not null group by 1 order by 3 desc, 1 limit ${FACETS}) f)`;
}

function filterOf({ organisatiecode, gremium, resourceType, from, to }: SearchFilter) {
  const values: unknown[] = [];
  const conditions: string[] = [];
  const add = (value: string | undefined, condition: (parameter: string) => string): void => {
    if (value !== undefined) conditions.push(condition(`$${values.push(value)}`));
  };
  add(organisatiecode, (p) => `s.organisatiecode = ${p}::text`);
  add(gremium, (p) => `s.gremium = ${p}::text`);
  add(resourceType, (p) => `s.resource_type = ${p}::text`);
  add(from, (p) => `s.datum >= (${p}::date)::timestamp at time zone 'Europe/Amsterdam'`);
  add(to, (p) => `s.datum < (${p}::date + 1)::timestamp at time zone 'Europe/Amsterdam'`);
  return { conditions, values };
}

function toFacets(found: unknown): Facet[] {
  return (Array.isArray(found) ? found : []).filter(isRecord).map(({ value, label, count }) => ({
    value: String(value),
    label: String(label ?? value),
    count: Number(count),
  }));
}
