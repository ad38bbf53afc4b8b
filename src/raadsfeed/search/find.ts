/**
 * Search over the index. Whatever the index still holds, a result is only shown while the feed has that very record: a redaction takes
 * effect here with its commit.
 */
import type { Db } from '../../kernel/database/transaction.ts';
import { isRecord, type JsonObject } from '../../kernel/json-value.ts';
import type { ResourceType } from '../domain/resource.ts';
import { beginningsQuery, needsCheck, type SearchQuery } from './fold.ts';
import { allDays, newestFirst } from './newest-first.ts';

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
  s.opgeslagen as "storedAt", s.titel, s.datum, s.soort, s.vergadering, s.gremium, s.gremiumnaam, s.kort`;
/** Joins only what the feed still has. */
export const CURRENT = `join raadsfeed.stand stand on stand.sequence_number = s.nummer`;

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
export const MOST_FOUND = 1000;

/** Searches, for words in the newest months first: once there are more results than are shown, older ones are not read. */
export async function search(db: Db, request: SearchRequest, now: Date): Promise<SearchResult> {
  // An index has them in the order of their days.
  if (request.query === undefined) return await searchIn(db, request);
  let isCommon = true;
  for (const { lexemes, isFew } of newestFirst(request, now)) {
    const found = await searchIn(db, request, { period: lexemes, isCommon });
    if (found.total > MOST_FOUND) return found;
    if (isFew(found.total, MOST_FOUND)) break;
    isCommon = found.total > MOST_FOUND / 10;
  }
  return await searchIn(db, request, { period: allDays(request), isCommon: false });
}

interface Step {
  /** Lexemes, in the form of a tsquery. */
  readonly period: string;
  /**
   * How long beginnings are looked for. Where there are many of them, or not many days, by reading every row that may have one. Else by having
   * the index collect all that begins like that, which takes longer the more there are.
   */
  readonly isCommon: boolean;
}

/** @param step absent for what the order of days finds by itself */
async function searchIn(db: Db, request: SearchRequest, step?: Step): Promise<SearchResult> {
  const { query, sort, offset, limit, organisatiecode } = request;
  const { conditions, values } = filterOf(request, step !== undefined);
  const parameter = (value: unknown): string => `$${values.push(value)}`;
  const words = query === undefined ? undefined : wordsOf(query, parameter);
  if (step !== undefined) {
    const isChecked = step.isCommon && query !== undefined && needsCheck(query);
    const indexed = isChecked ? wordsOf(query, parameter, true) : words;
    // Empty, it adds nothing to the words.
    const narrow = `${parameter(lexemesOf(request, step.period))}::tsquery`;
    conditions.push(`s.woorden @@ ${indexed === undefined ? narrow : `(${indexed} && ${narrow})`}`);
    // Written so that the index of words is not asked.
    if (isChecked) conditions.push(`coalesce(s.woorden @@ ${words}, false)`);
  }
  const isRanked = sort === 'relevantie' && words !== undefined;
  const where = conditions.length === 0 ? '' : `where ${conditions.join(' and ')}`;
  const { rows } = await db.query<Item & { facets: unknown }>({
    // Without a name: planned for its words and filters, which differ a thousandfold in how much they find.
    text: `with hits as materialized (
             select * from (
               select s.nummer, s.organisatiecode, s.resource_type, s.gremium, s.gremiumnaam, s.datum${isRanked ? ', s.woorden' : ''}
                 from raadsfeed_zoek.stuk s ${where}
                 ${step === undefined ? '' : FOUND_FIRST}) s
              order by s.datum desc nulls last, s.nummer desc
              limit ${MOST_FOUND + 1}),
           ranked as (
             select nummer, row_number() over (order by ${isRanked ? `ts_rank(woorden, ${words}) desc, ` : ''}datum desc nulls last, nummer desc) as place from hits),
           shown as (
             select place, ${ITEM} from ranked r join raadsfeed_zoek.stuk s on s.nummer = r.nummer ${CURRENT}
              where r.place > ${parameter(offset)}::integer and r.place <= ${parameter(offset + limit)}::integer)
           select shown.*, facets from (
             select json_build_object(
               'total', (select count(*) from hits),
               'types', ${countsOf('resource_type')},
               'organisations', ${countsOf('organisatiecode')}${
                 organisatiecode === undefined
                   ? ''
                   : `,
               'bodies', ${countsOf('gremium', 'gremiumnaam')}`
               }) as facets) f
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

/** Without it, Postgres may go through all rows in the order of their days until enough have the words: it has no statistics of words. */
const FOUND_FIRST = 'offset 0';

/** Values of a facet that are counted. */
const FACETS = 20;

function countsOf(column: string, label = column): string {
  return `(select json_agg(f) from (select ${column} as value, max(${label}) as label, count(*) from hits
            where ${column} is not null group by 1 order by 3 desc, 1 limit ${FACETS}) f)`;
}

/**
 * The words of a query as a tsquery: as they are typed, and each also as a beginning.
 * @param isShort beginnings only as far as the index has them
 */
function wordsOf({ web, words }: SearchQuery, parameter: (value: string) => string, isShort = false): string {
  const typed = (text: string): string => `websearch_to_tsquery('dutch', ${parameter(text)}::text)`;
  const each = words.map(({ word, beginning }) => {
    if (beginning === undefined) return typed(word);
    const short = `${parameter(lexeme(beginning))}::tsquery`;
    const isWhole = isShort || beginning === `^${word}`;
    return `(${typed(word)} || ${isWhole ? short : `(${short} && to_tsquery('simple', ${parameter(`${word}:*`)}::text))`})`;
  });
  return each.length === 0 ? typed(web) : `(${typed(web)} || (${each.join(' && ')}))`;
}

/** What a search is narrowed by, as the words that the index has of it (`raadsfeed_zoek.kenmerken`). */
function lexemesOf({ organisatiecode, gremium, resourceType }: SearchFilter, period: string): string {
  const filters = [
    organisatiecode === undefined ? undefined : `_${organisatiecode}`,
    resourceType === undefined ? undefined : `_${resourceType}`,
    gremium === undefined ? undefined : `_c:${gremium}`,
  ].flatMap((filter) => (filter === undefined ? [] : lexeme(filter)));
  return [...filters, ...(period === '' ? [] : [`(${period})`])].join(' & ');
}

/** A lexeme in the form of a tsquery. */
const lexeme = (text: string): string => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "''")}'`;

/** @param isChecked the index of words finds the rows: these conditions are only checked, and ask no index of their own */
function filterOf(
  { organisatiecode, gremium, resourceType, from, to }: SearchFilter,
  isChecked: boolean,
): { conditions: string[]; values: unknown[] } {
  const values: unknown[] = [];
  const conditions: string[] = [];
  const add = (value: string | undefined, condition: (parameter: string) => string): void => {
    if (value === undefined) return;
    const compared = condition(`$${values.push(value)}`);
    conditions.push(isChecked ? `coalesce(${compared}, false)` : compared);
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

/** Where words of a query stand in texts: half-open ranges of characters, in order. */
export type Marks = readonly (readonly [from: number, to: number])[];

const START = '\u0001';
const END = '\u0002';

/** @param texts folded */
export async function markWords(db: Db, query: SearchQuery, texts: readonly string[]): Promise<Marks[]> {
  if (texts.length === 0) return [];
  const { rows } = await db.query<{ marked: string }>({
    name: 'raadsfeed-zoek-markeer',
    text: `select ts_headline('dutch', t, q, $4::text) as marked
             from (select websearch_to_tsquery('dutch', $2::text) || coalesce(to_tsquery('simple', $3::text), ''::tsquery) as q) q,
                  unnest($1::text[]) with ordinality as g (t, place)
            order by place`,
    values: [texts, query.web, beginningsQuery(query) ?? null, `HighlightAll=true, StartSel=${START}, StopSel=${END}`],
  });
  return rows.map(({ marked }, i) => rangesIn(marked, texts[i] ?? ''));
}

/** The ranges that are marked; none when the rest is not the text itself. */
function rangesIn(marked: string, text: string): Marks {
  const ranges: [number, number][] = [];
  let bare = '';
  for (const part of marked.split(START)) {
    const [word = '', rest] = part.split(END);
    if (rest !== undefined) ranges.push([bare.length, bare.length + word.length]);
    bare += word + (rest ?? '');
  }
  return bare === text ? ranges : [];
}
