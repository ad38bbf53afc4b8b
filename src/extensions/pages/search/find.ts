/**
 * Search over the index, and where the words are in the texts that its results show. Whatever the index still holds, a result is only
 * shown while the feed has that very record.
 */
import type { Db } from '../../../database/transaction.ts';
import { isRecord } from '../../../lib/json/json-value.ts';
import { type SearchQuery, tsquery } from './fold.ts';
import { CURRENT, conditionsOf, ITEM, type Item, type ItemFilter, NEWEST, NEWEST_STORED } from './lists.ts';

interface SearchRequest extends ItemFilter {
  /** Absent: everything that passes the filter. */
  readonly query?: SearchQuery | undefined;
  /** By the day of the item, or by the moment that it came into the feed. */
  readonly sort: 'relevantie' | 'datum' | 'nieuwste';
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
  /** At most `MOST_FOUND` + 1; more than that are not counted. */
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

export async function search(db: Db, { query, sort, offset, limit, ...filter }: SearchRequest): Promise<SearchResult> {
  const values: unknown[] = [];
  const conditions = conditionsOf(filter, values);
  const parameter = (value: unknown): string => `$${values.push(value)}`;
  const words = query && tsquery(parameter(query.web), parameter(query.beginnings));
  const newest = sort === 'nieuwste' ? NEWEST_STORED : NEWEST;
  const hasWords = words === undefined ? 'true' : `s.woorden @@ ${words}`;
  // `offset 0`: of common words the rows are checked one by one, the newest first, until there are enough; others are found by the index of
  // words, and then put in order. The planner cannot know which: it takes a word that nobody wrote for a common one, and reads every row.
  const found =
    query === undefined || (await isCommon(db, query))
      ? `(select * from pages.items s where ${conditions} order by ${newest} offset 0) s where ${hasWords}`
      : `(select * from pages.items s where ${hasWords} and ${conditions} offset 0) s order by ${newest}`;
  const order = sort === 'relevantie' && words !== undefined ? `ts_rank(s.woorden, ${words}) desc, ${NEWEST}` : newest;
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
    types: toFacets(facets.types),
    organisations: toFacets(facets.organisations),
    bodies: toFacets(facets.bodies),
  };
}

async function isCommon(db: Db, { web, beginnings }: SearchQuery): Promise<boolean> {
  const { rows } = await db.query<{ count: number }>({
    name: 'pages-is-common',
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

function toFacets(found: unknown): Facet[] {
  return (Array.isArray(found) ? found : []).filter(isRecord).map(({ value, label, count }) => ({
    value: String(value),
    label: String(label ?? value),
    count: Number(count),
  }));
}

/** Where words of a query are in a text: half-open ranges of characters, in order. */
export type Marks = readonly (readonly [from: number, to: number])[];

const START = '\u0001';
const END = '\u0002';

/** @param texts folded */
export async function markWords(db: Db, query: SearchQuery, texts: readonly string[]): Promise<Marks[]> {
  const { rows } = await db.query<{ marked: string }>({
    name: 'pages-marks',
    text: `select ts_headline('dutch', t, q, $4::text) as marked
             from (select ${tsquery('$2', '$3')} as q) q,
                  unnest($1::text[]) with ordinality as g (t, place)
            order by place`,
    values: [texts, query.web, query.beginnings, `HighlightAll=true, StartSel=${START}, StopSel=${END}`],
  });
  return rows.map(({ marked }) => {
    const [before = '', ...parts] = marked.split(START);
    let at = before.length;
    return parts.map((part) => {
      const [word = '', after = ''] = part.split(END);
      const from = at;
      at += word.length + after.length;
      return [from, from + word.length] as const;
    });
  });
}
