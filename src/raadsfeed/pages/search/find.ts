/**
 * Search over the index. Rare words are found by the index of words, and all hits are put in order. Of common ones the index would give a large
 * part of the table, a millisecond a thousand: there the rows are looked at one by one in the order that is wanted, until there are enough.
 * Whatever the index still holds, a result is only shown while the feed has that very record.
 */
import type pg from 'pg';
import type { Db } from '../../../database/transaction.ts';
import { isRecord } from '../../../lib/json/json-value.ts';
import { CURRENT, conditionsOf, ITEM, type Item, type ItemFilter, ORDERS } from './lists.ts';
import type { WordQuery } from './words.ts';

/** The best first, by the day of the item, or by when it came into the feed. */
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
  /** There are more, which were not counted: the facets are of `total` hits. */
  readonly isMore: boolean;
  readonly organisations: readonly Facet[];
  readonly types: readonly Facet[];
  /** When one organisation was asked for: identifications of bodies are an organisation's own. */
  readonly bodies: readonly Facet[];
}

/** Rows that tell how common words are. */
const SAMPLE = 500;
/** Words that more rows have are common. */
const COMMON = 10_000;
/** Rows that are looked at for common words, and the most before the index is not slower. */
const LOOKED_AT = 2000;
const MOST_LOOKED_AT = 20_000;
/** Rows that are looked at for a page of hits in titles, before the index of all titles is faster. */
const MOST_FOR_TITLES = 5000;
/** A phrase of common words is looked for in the months of about so many rows: of those with the words, few have the phrase. */
const PHRASE_ROWS = 20_000;
const MOST_MONTHS = 240;
/** Without words: rows that are counted. */
const COUNTED = 2001;

/** Where hits are looked for. `titles`: as `rows`, and by the index in titles, whose hits are the best. */
type Way =
  | { readonly by: 'index' }
  | {
      readonly by: 'rows' | 'titles';
      readonly most: number;
      /** Only rows of these months, by the index. */
      readonly months?: readonly string[];
    };

export async function search(db: Db, request: SearchRequest): Promise<SearchResult> {
  const { words, sort } = request;
  const needed = request.offset + request.limit;
  if (words === undefined) return await find(db, request, { by: 'rows', most: Math.max(COUNTED, needed + 1) });
  const { rows, hits, near, best, all, newest, oldest } = await sample(db, request, words);
  if (rows < SAMPLE) return await find(db, request, { by: 'rows', most: SAMPLE });
  if ((near / SAMPLE) * all > COMMON) {
    const rowsFor = (found: number): number => Math.ceil((1.5 * needed * SAMPLE) / Math.max(1, found));
    const months = near > hits && (sort === 'relevantie' || sort === 'datum') ? monthsOf(newest, oldest) : [];
    // Titles are looked through at once for a phrase, which is found soon, and where too few of the rows would be the best.
    const isTitled = months.length > 0 || rowsFor(best) > MOST_FOR_TITLES;
    const most = Math.max(LOOKED_AT, rowsFor(sort === 'relevantie' && !isTitled ? best : hits));
    const inPart = months.length > 0 ? { most, months } : { most };
    const isPart = months.length > 0 || most <= MOST_LOOKED_AT;
    const by = sort === 'relevantie' && isTitled ? 'titles' : 'rows';
    const found = isPart ? await find(db, request, { by, ...inPart }) : undefined;
    if (found !== undefined && (!found.isMore || found.total >= needed)) {
      const isRanked = sort !== 'relevantie' || by === 'titles' || !found.isMore || found.best >= needed;
      return isRanked ? found : await find(db, request, { by: 'titles', ...inPart });
    }
  }
  return await find(db, request, { by: 'index' });
}

/** The months back from the newest of a sample that have `PHRASE_ROWS`, if the older ones have as many rows; none when those are too many. */
function monthsOf(newest: Date | null, oldest: Date | null): string[] {
  if (newest === null || oldest === null) return [];
  const from = newest.getTime() - (newest.getTime() - oldest.getTime()) * (PHRASE_ROWS / SAMPLE);
  const months: string[] = [];
  // Begins a month later: in Amsterdam it may be the next one already.
  for (let back = -1; months.length <= MOST_MONTHS; back += 1) {
    const month = new Date(Date.UTC(newest.getUTCFullYear(), newest.getUTCMonth() - back, 1));
    months.push(month.toISOString().slice(0, 7).replace('-', ''));
    if (month.getTime() <= from) return months;
  }
  return [];
}

interface Sample {
  readonly rows: number;
  readonly hits: number;
  readonly near: number;
  readonly best: number;
  readonly all: number;
  readonly newest: Date | null;
  readonly oldest: Date | null;
}

/** Of the first rows in the order that is wanted: how many have the words, how many have them, if not as a phrase, and how many in their titles; and how many rows there are, about. */
async function sample(
  db: Db,
  { sort, words: _, offset: __, limit: ___, ...filter }: SearchRequest,
  words: WordQuery,
): Promise<Sample> {
  const values: unknown[] = [words.all, words.title];
  // A phrase is looked for where its words are.
  const apart = words.all.replaceAll('<->', '&');
  const [unlessNear, otherwise] =
    apart === words.all ? ['', 'null'] : [`when not s.read @@ $${values.push(apart)}::tsquery then null`, '0'];
  const { rows } = await db.query<Sample & pg.QueryResultRow>({
    text: `select count(*)::integer as rows, max(datum) as newest, min(datum) as oldest, count(score)::integer as near,
                  (count(*) filter (where score > 0))::integer as hits, (count(*) filter (where score = ${BEST}))::integer as best,
                  (select greatest(reltuples, 0) from pg_class where oid = 'pages.items'::regclass) as all
             from (select s.datum, case ${unlessNear} when s.read @@ $1::tsquery then 1 + (s.read @@ $2::tsquery)::integer else ${otherwise} end as score
                     from ${read(inOrder(sort, conditionsOf(filter, values), `${SAMPLE}`))}) s`,
    values,
  });
  return rows[0] ?? { rows: 0, hits: 0, near: 0, best: 0, all: 0, newest: null, oldest: null };
}

/** The first rows that pass the filter; those without a day are the last. */
function inOrder(sort: SearchSort, conditions: string, most: string): string {
  const first = (order: keyof typeof ORDERS, also = ''): string =>
    `(select * from pages.items s where ${conditions}${also} order by ${ORDERS[order]} limit ${most})`;
  // The index has rows without a day before the oldest.
  if (sort === 'oudste')
    return `(${first('oldest', ' and s.datum is not null')} union all ${first('oldest', ' and s.datum is null')} limit ${most})`;
  return first(sort === 'nieuwste' ? 'stored' : 'newest');
}

/** Rows with their words fetched once from where Postgres keeps long values, not for each query: deleting nothing gives them as they are. */
const read = (rows: string): string => `(select *, ts_delete(woorden, '') as read from ${rows} s offset 0) s`;

const SORTED: Readonly<Record<SearchSort, string>> = {
  relevantie: 'score desc, datum desc nulls last, nummer desc',
  datum: 'datum desc nulls last, nummer desc',
  oudste: 'datum asc nulls last, nummer asc',
  nieuwste: 'first_number desc',
};
const HIT = 's.nummer, s.organisatiecode, s.resource_type, s.gremium, s.gremiumnaam, s.datum, s.first_number';
/** A hit in titles. */
const BEST = 2;

async function find(
  db: Db,
  { words, sort, offset, limit, ...filter }: SearchRequest,
  way: Way,
): Promise<SearchResult & { readonly best: number }> {
  const values: unknown[] = [];
  const conditions = conditionsOf(filter, values);
  const parameter = (value: unknown): string => `$${values.push(value)}`;
  const has = (query: string | undefined, column = 's.woorden'): string =>
    query === undefined ? 'true' : `${column} @@ ${parameter(query)}::tsquery`;
  const hasRead = (query: string | undefined): string => has(query, 's.read');
  const score = (isIn: (query: string) => string): string =>
    sort === 'relevantie' && words !== undefined
      ? [words.title, words.exact].map((query) => (query === words.all ? '1' : `(${isIn(query)})::integer`)).join(' + ')
      : '0';
  // `offset 0`: the rows are found by the index of words, whatever the planner thinks of it and of the filters.
  const byIndex = (query: string | undefined, score: string): string =>
    `select ${HIT}, ${score} as score from (select * from pages.items s where ${has(query)} offset 0) s where ${conditions}`;
  const byRows = (from: string): string =>
    `select ${HIT}, case when ${hasRead(words?.all)} then ${score(hasRead)} end as score from ${read(from)}`;
  const inMonths = (months: readonly string[]): string =>
    `(select * from pages.items s where ${has(`${words?.all} & (${months.map((month) => `'@${month}'`).join(' | ')})`)} and ${conditions} offset 0)`;
  const looked =
    way.by === 'index'
      ? 'select 1 as score'
      : byRows(way.months === undefined ? inOrder(sort, conditions, parameter(way.most)) : inMonths(way.months));
  const hits =
    way.by === 'index'
      ? byIndex(
          words?.all,
          score((query) => `s.nummer in (select s.nummer from pages.items s where ${has(query)})`),
        )
      : way.by === 'rows'
        ? 'select * from looked where score is not null'
        : `select * from looked where score < ${BEST} union all ${byIndex(words?.title, `${BEST}`)}`;
  const { rows } = await db.query<Item & { facets: unknown }>({
    // Without a name: planned for its words and filters, which differ a thousandfold in how much they find.
    text: `with looked as materialized (${looked}), hits as materialized (${hits}),
           shown as (
             select h.place, ${ITEM}
               from (select nummer, row_number() over () as place
                       from (select nummer from hits order by ${SORTED[sort]} limit ${parameter(limit)}::integer offset ${parameter(offset)}::integer) h) h
               join pages.items s using (nummer) ${CURRENT})
           select shown.*, facets from (
             select json_build_object(
               'total', (select count(*) from hits), 'looked', (select count(*) from looked),
               'best', (select count(*) from hits where score = ${BEST}),
               'types', ${countsOf('resource_type')},
               'organisations', ${countsOf('organisatiecode')},
               'bodies', ${filter.organisatiecode === undefined ? 'null' : countsOf('gremium', 'gremiumnaam')}) as facets) f
             left join shown on true
            order by place`,
    values,
  });
  const facets = isRecord(rows[0]?.facets) ? rows[0].facets : {};
  return {
    // Without results there is one row, with the facets alone.
    items: rows.filter(({ sequenceNumber }) => sequenceNumber !== null),
    total: Number(facets.total ?? 0),
    best: Number(facets.best ?? 0),
    isMore: way.by !== 'index' && (way.months !== undefined || Number(facets.looked ?? 0) >= way.most),
    types: toFacets(facets.types),
    organisations: toFacets(facets.organisations),
    bodies: toFacets(facets.bodies),
  };
}

/** Values of a facet that are counted. */
const FACETS = 20;

function countsOf(column: string, label = column): string {
  return `(select json_agg(f) from (select ${column} as value, max(${label}) as label, count(*) from hits
            where ${column} is not null group by 1 order by 3 desc, 1 limit ${FACETS}) f)`;
}

function toFacets(found: unknown): Facet[] {
  return (Array.isArray(found) ? found : []).filter(isRecord).map(({ value, label, count }) => ({
    value: String(value),
    label: String(label ?? value),
    count: Number(count),
  }));
}
