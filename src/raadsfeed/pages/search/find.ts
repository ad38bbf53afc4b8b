/**
 * Search over the index. The first rows in the requested order are read one by one: common words fill the page with these. Rarer words are found by
 * the index of words, which takes a millisecond for a thousand hits. A hit is shown only while the feed has exactly that record.
 */
import type { Db } from '../../../database/transaction.ts';
import { isRecord, type JsonObject } from '../../../lib/json/json-value.ts';
import { CURRENT, conditionsOf, ITEM, type Item, type ItemFilter, ORDERS } from './lists.ts';
import type { WordQuery } from './words.ts';

/** By relevance, by the day of the item, or by the moment that it came into the feed. */
export type SearchSort = 'relevantie' | 'datum' | 'oudste' | 'nieuwste';

interface SearchRequest extends ItemFilter {
  /** Absent: everything that passes the filter. */
  readonly words?: WordQuery | undefined;
  readonly sort: SearchSort;
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
  readonly total: number;
  /** There are more hits, which were not counted: the facets are of `total` hits. */
  readonly isMore: boolean;
  readonly organisations: readonly Facet[];
  readonly types: readonly Facet[];
  /** For a search in one organisation only, because each identifies its bodies in its own way. */
  readonly bodies: readonly Facet[];
}

/** Rows that are read in order for the first page: words that fill the page with these count as common. */
const READ_IN_ORDER = 2000;
/** Rows that are read in order for a later page, before the index of words is cheaper. */
const MOST_IN_ORDER = 20_000;
/** Rows that are read for one hit of a page. */
const PER_HIT = 100;

/** How hits are looked up. `titles`: in order, and by the index in titles, whose hits are the best. */
type Way = { readonly by: 'index' } | { readonly by: 'order' | 'titles'; readonly most: number };

export async function search(db: Db, request: SearchRequest): Promise<SearchResult> {
  const { words, sort } = request;
  const needed = request.offset + request.limit;
  const most = Math.max(READ_IN_ORDER, words === undefined ? needed + 1 : Math.min(needed * PER_HIT, MOST_IN_ORDER));
  const found = await find(db, request, { by: 'order', most });
  if (words === undefined || !found.isMore) return found;
  if (found.total < needed && found.near < needed) return await find(db, request, { by: 'index' });
  if ((sort === 'relevantie' ? found.best : found.total) >= needed) return found;
  // The index has no positions: it finds a phrase of common words by reading every row that has them, in titles far fewer.
  const ways: readonly Way[] =
    sort === 'relevantie'
      ? [...new Set([most, MOST_IN_ORDER])].map((rows) => ({ by: 'titles', most: rows }))
      : [{ by: 'order', most: MOST_IN_ORDER }];
  for (const way of ways) {
    const more = await find(db, request, way);
    if (more.total >= needed) return more;
  }
  return await find(db, request, { by: 'index' });
}

interface Found extends SearchResult {
  readonly best: number;
  /** Of the rows read in order, those that have the words, also where these are not the phrase. */
  readonly near: number;
}

const HIT = 's.number, s.organisatiecode, s.resource_type, s.gremium, s.gremiumnaam, s.datum, s.first_number';
const BEST = 2;

async function find(db: Db, { words, sort, offset, limit, ...filter }: SearchRequest, way: Way): Promise<Found> {
  const values: unknown[] = [];
  const conditions = conditionsOf(filter, values);
  const has = (query: string | undefined, column: string): string =>
    query === undefined ? 'true' : `${column} @@ $${values.push(query)}::tsquery`;
  const score = (isIn: (query: string) => string): string =>
    sort === 'relevantie' && words !== undefined
      ? [words.title, words.exact].map((query) => (query === words.all ? '1' : `(${isIn(query)})::integer`)).join(' + ')
      : '0';
  // `offset 0`: makes the planner, which has no statistics of words, use the index of words.
  const byIndex = (query: string | undefined, points: string): string =>
    `select ${HIT}, ${points} as score from (select * from pages.items s where ${has(query, 's.words')} offset 0) s where ${conditions}`;
  // Postgres stores long values out of line: deleting nothing from the words fetches them once instead of for each query.
  const byOrder = (most: number): string =>
    `select ${HIT}, case when ${has(words?.all, 's.read')} then ${score((query) => has(query, 's.read'))} end as score,
            ${has(words?.all.replaceAll('<->', '&'), 's.read')} as near
       from (select *, ts_delete(words, '') as read from ${inOrder(sort, conditions, `$${values.push(most)}`)} s offset 0) s`;
  const read = way.by === 'index' ? 'select 0 as score, false as near' : byOrder(way.most);
  const isIn = (query: string): string =>
    `s.number in (select s.number from pages.items s where ${has(query, 's.words')})`;
  const ways = {
    index: () => byIndex(words?.all, score(isIn)),
    order: () => 'select * from read where score is not null',
    titles: () =>
      `select ${HIT}, score from read s where score < ${BEST} union all ${byIndex(words?.title, `${BEST}`)}`,
  };
  const hits = ways[way.by]();
  const { rows } = await db.query<Item & { counted: unknown }>({
    // Without a name: planned for its words and filters, which differ a thousandfold in how much they find.
    text: `with read as materialized (${read}), hits as materialized (${hits}),
           shown as (
             select h.place, ${ITEM}
               from (select number, row_number() over () as place
                       from (select number from hits order by ${SORTED[sort]} limit $${values.push(limit)}::integer offset $${values.push(offset)}::integer) h) h
               join pages.items s using (number) ${CURRENT})
           select shown.*, counted from (
             select json_build_object(
               'total', (select count(*) from hits), 'read', (select count(*) from read), 'near', (select count(*) from read where near),
               'best', (select count(*) from hits where score = ${BEST}),
               'types', ${valuesOf('resource_type')},
               'organisations', ${valuesOf('organisatiecode')},
               'bodies', ${filter.organisatiecode === undefined ? 'null' : valuesOf('gremium', 'gremiumnaam')}) as counted) c
             left join shown on true
            order by place`,
    values,
  });
  const counted: JsonObject = isRecord(rows[0]?.counted) ? rows[0].counted : {};
  return {
    // Without results there is one row, with the counts alone.
    items: rows.filter(({ sequenceNumber }) => sequenceNumber !== null),
    total: Number(counted.total),
    best: Number(counted.best),
    near: Number(counted.near),
    isMore: way.by !== 'index' && Number(counted.read) >= way.most,
    types: toFacets(counted.types),
    organisations: toFacets(counted.organisations),
    bodies: toFacets(counted.bodies),
  };
}

/** The first rows that pass the filter, by an index of that order; those without a day are the last. */
function inOrder(sort: SearchSort, conditions: string, most: string): string {
  const first = (order: keyof typeof ORDERS, also = ''): string =>
    `(select * from pages.items s where ${conditions}${also} order by ${ORDERS[order]} limit ${most}::bigint)`;
  // The index has rows without a day before the oldest.
  if (sort === 'oudste')
    return `(${first('oldest', ' and s.datum is not null')} union all ${first('oldest', ' and s.datum is null')} limit ${most}::bigint)`;
  return first(sort === 'nieuwste' ? 'stored' : 'newest');
}

const SORTED: Readonly<Record<SearchSort, string>> = {
  relevantie: 'score desc, datum desc nulls last, number desc',
  datum: 'datum desc nulls last, number desc',
  oudste: 'datum asc nulls last, number asc',
  nieuwste: 'first_number desc',
};

const FACETS = 20;

function valuesOf(column: string, label = column): string {
  return `(select json_agg(f) from (select ${column} as value, max(${label}) as label, count(*) from hits
            where ${column} is not null group by 1 order by 3 desc, 1 limit ${FACETS}) f)`;
}

function toFacets(found: unknown): Facet[] {
  return (Array.isArray(found) ? found : []).filter(isRecord).map(({ value, label, count: times }) => ({
    value: String(value),
    label: String(label ?? value),
    count: Number(times),
  }));
}
