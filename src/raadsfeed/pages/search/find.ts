/**
 * Search over the index. The index of words gives the hits, up to `COUNTED` rows: when there are more, the page is read in its order instead,
 * row by row, until it is full. A hit is only shown while the feed has that very record.
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
  /** Of a search in one organisation: each identifies its bodies in its own way. */
  readonly bodies: readonly Facet[];
}

/** Rows that are counted: of common words the index would give a large part of the table. */
const COUNTED = 2000;
/** Rows that are read in order before the index of words is cheaper. */
const MOST_IN_ORDER = 20_000;

export async function search(db: Db, request: SearchRequest): Promise<SearchResult> {
  const { words, sort, offset, limit } = request;
  const needed = offset + limit;
  const most = Math.max(COUNTED, needed) + 1;
  if (words === undefined) {
    const found = await count(db, request, undefined, most);
    return { ...found, items: await show(db, found.numbers.slice(offset, needed)) };
  }
  let found = await count(db, request, words.all, most);
  const numbers = new Set<number>();
  // Within each of these the order is that of the day.
  for (const query of sort === 'relevantie' ? [words.title, words.exact] : []) {
    if (query === words.all || numbers.size >= needed) continue;
    const best = await count(db, request, query, most);
    const first = best.isMore ? await readInOrder(db, request, query) : best.numbers;
    for (const number of first) numbers.add(number);
  }
  if (numbers.size < needed) {
    const first = found.isMore ? await readInOrder(db, request, words.all) : found.numbers;
    for (const number of first) numbers.add(number);
    if (found.isMore && numbers.size < needed) {
      found = await count(db, request, words.all, null);
      for (const number of found.numbers) numbers.add(number);
    }
  }
  return { ...found, items: await show(db, [...numbers].slice(offset, needed)) };
}

interface Counted extends Omit<SearchResult, 'items'> {
  /** The first hits up to the end of the page. */
  readonly numbers: readonly number[];
}

/** Counts hits, and the values of their facets. @param most rows that are looked at; `null`: all */
async function count(
  db: Db,
  { words: _, sort, offset, limit, ...filter }: SearchRequest,
  query: string | undefined,
  most: number | null,
): Promise<Counted> {
  const values: unknown[] = [most, offset + limit];
  const conditions = conditionsOf(filter, values);
  const found = query === undefined ? inOrder(sort, conditions, '$1') : byWords(query, filter, values);
  const { rows } = await db.query<{ counted: unknown }>({
    // Without a name: planned for its words and filters, which differ a thousandfold in how much they find.
    text: `with found as materialized (
             select s.number, s.organisatiecode, s.resource_type, s.gremium, s.gremiumnaam, s.datum, s.first_number,
                    ${query === undefined ? 'true' : `${conditions}${phraseOf(query, values)}`} as is_hit
               from ${found} s),
           hits as (select * from found where is_hit)
           select json_build_object(
             'looked', (select count(*) from found), 'total', (select count(*) from hits),
             'numbers', (select json_agg(number) from (select number from hits order by ${SORTED[sort]} limit $2::integer) n),
             'types', ${valuesOf('resource_type')},
             'organisations', ${valuesOf('organisatiecode')},
             'bodies', ${filter.organisatiecode === undefined ? 'null' : valuesOf('gremium', 'gremiumnaam')}) as counted`,
    values,
  });
  const counted: JsonObject = isRecord(rows[0]?.counted) ? rows[0].counted : {};
  const total = Number(counted.total);
  return {
    numbers: (Array.isArray(counted.numbers) ? counted.numbers : []).map(Number),
    // The last row that is looked at only shows that there are more.
    total: most === null ? total : Math.min(total, most - 1),
    isMore: most !== null && Number(counted.looked) >= most,
    types: toFacets(counted.types),
    organisations: toFacets(counted.organisations),
    bodies: toFacets(counted.bodies),
  };
}

/** Rows by the index of words. `offset 0`: whatever the planner, which has no statistics of words, thinks of it. */
function byWords(query: string, { organisatiecode }: ItemFilter, values: unknown[]): string {
  const words = organisatiecode === undefined ? apart(query) : `(${apart(query)}) & '@${organisatiecode}'`;
  return `(select * from pages.items s where s.words @@ $${values.push(words)}::tsquery limit $1::bigint offset 0)`;
}

/** The words of a phrase wherever they are: the index has no places. A phrase that is excluded stays one. */
const apart = (query: string): string => (query.includes('!') ? query : query.replaceAll('<->', '&'));

function phraseOf(query: string, values: unknown[]): string {
  return query === apart(query) ? '' : ` and s.words @@ $${values.push(query)}::tsquery`;
}

/** The first hits up to the end of the page, from rows that are read in its order. */
async function readInOrder(
  db: Db,
  { words: _, sort, offset, limit, ...filter }: SearchRequest,
  query: string,
): Promise<number[]> {
  const values: unknown[] = [MOST_IN_ORDER, query, offset + limit];
  const { rows } = await db.query<{ number: number }>({
    text: `select number from ${inOrder(sort, conditionsOf(filter, values), '$1')} s where s.words @@ $2::tsquery limit $3::integer`,
    values,
  });
  return rows.map(({ number }) => number);
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
  relevantie: 'datum desc nulls last, number desc',
  datum: 'datum desc nulls last, number desc',
  oudste: 'datum asc nulls last, number asc',
  nieuwste: 'first_number desc',
};

/** The items with these numbers that the feed still has, in this order. */
async function show(db: Db, numbers: readonly number[]): Promise<Item[]> {
  const { rows } = await db.query<Item>({
    name: 'pages-search-items',
    text: `select ${ITEM} from unnest($1::bigint[]) with ordinality n (number, place) join pages.items s using (number) ${CURRENT} order by place`,
    values: [numbers],
  });
  return rows;
}

/** Values of a facet that are counted. */
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
