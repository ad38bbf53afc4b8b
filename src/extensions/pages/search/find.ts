/**
 * Search over the index. Whatever the index still holds, a result is only shown while the feed has that very record: a redaction takes
 * effect here with its commit.
 */
import type { Db } from '../../../database/transaction.ts';
import { isRecord, type JsonObject } from '../../../lib/json/json-value.ts';
import type { ResourceType } from '../../../raadsfeed/domain/resource.ts';
import type { SearchQuery } from './fold.ts';
import { daysBack, FIRST_MONTHS, FIRST_MONTHS_OF_ONE, isFew, monthsOfResults, monthsToRead } from './newest-first.ts';
import { lexemesOf, wordsOf, wordsToRead } from './tsquery.ts';

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
  /** First month that was looked at, as `2018-02`, when older ones were too much to read. */
  readonly since?: string;
}

/** Of more results the newest so many are ranked, counted and shown. */
export const MOST_FOUND = 500;
/** Rows with the words of a phrase that are read to see whether they stand together, about: in most they do not. */
const MOST_READ = 2000;

/**
 * Searches, for words in the newest months first, and as far back as there are results to show. Words that are common are looked for as they
 * are; others also as beginnings.
 */
export async function search(db: Db, request: SearchRequest, now: Date): Promise<SearchResult> {
  const { query } = request;
  // An index has them in the order of their days.
  if (query === undefined) return await searchIn(db, request);
  if (query.words.some(({ beginning }) => beginning !== undefined)) {
    const found = await searchBack(db, { ...request, query }, now, false);
    if (found !== undefined && found.total > MOST_FOUND) return found;
  }
  return (await searchBack(db, { ...request, query }, now, true)) ?? NOTHING;
}

const NOTHING: SearchResult = { items: [], total: 0, organisations: [], types: [], bodies: [] };

/**
 * Looks further and further back. Each step is exact: what is newer than its beginning is all in it.
 * @returns without beginnings `undefined` when the words are not common
 */
async function searchBack(
  db: Db,
  request: SearchRequest & { readonly query: SearchQuery },
  now: Date,
  hasBeginnings: boolean,
): Promise<SearchResult | undefined> {
  const { query } = request;
  const days = daysBack(request, now);
  // Whether a phrase stands together, or a word is absent, only the row tells.
  const isChecked = query.words.length === 0;
  let isCommon = true;
  for (let months = request.organisatiecode === undefined ? FIRST_MONTHS : FIRST_MONTHS_OF_ONE; ; ) {
    const isAll = months >= days.most;
    const period = isAll ? days.all : days.newest(months);
    const { read, ...found } = await searchIn(db, request, {
      period,
      isCommon,
      hasBeginnings,
      isLast: isAll || isChecked,
    });
    if (isAll || found.total > MOST_FOUND) return found;
    if (!hasBeginnings && isFew(months, found.total, MOST_FOUND)) return undefined;
    // For a few months more, these would all be read again.
    if (isChecked && read > MOST_READ / 2) return { ...found, since: days.first(months) };
    const forResults = monthsOfResults(months, found.total, MOST_FOUND);
    const toRead = monthsToRead(months, read, MOST_READ);
    isCommon = found.total > MOST_FOUND / 10;
    const wanted = isChecked ? Math.min(forResults, toRead) : forResults;
    // For a few rows less, narrowing by many months is not worth its time.
    months = 2 * wanted >= days.most && toRead >= days.most ? days.most : wanted;
  }
}

interface Step {
  /** Lexemes, in the form of a tsquery. */
  readonly period: string;
  /** How long beginnings are looked for: see `wordsToRead`. */
  readonly isCommon: boolean;
  readonly hasBeginnings: boolean;
  /** What is found is shown, even when it is few. */
  readonly isLast: boolean;
}

/**
 * @param step absent for what the order of days finds by itself
 * @returns also how many rows were read
 */
async function searchIn(
  db: Db,
  request: SearchRequest,
  step?: Step,
): Promise<SearchResult & { readonly read: number }> {
  const { query, sort, offset, limit, organisatiecode } = request;
  const { conditions, values } = filterOf(request, step !== undefined);
  const parameter = (value: unknown): string => `$${values.push(value)}`;
  const words = query === undefined ? undefined : wordsOf(query, step?.hasBeginnings ?? false, parameter);
  let passes = 'true';
  if (step !== undefined && query !== undefined) {
    const toRead = wordsToRead(query, step, parameter);
    // Empty, it adds nothing to the words.
    const narrow = `${parameter(lexemesOf(request, step.period))}::tsquery`;
    conditions.push(`s.woorden @@ (${toRead ?? words} && ${narrow})`);
    if (toRead !== undefined) passes = `s.woorden @@ ${words}`;
    // Words that are too common to be in the index would find everything.
    if (!step.hasBeginnings) conditions.push(`numnode(${words}) > 0`);
  }
  const where = conditions.length === 0 ? '' : `where ${conditions.join(' and ')}`;
  const order = 'datum desc nulls last, nummer desc';
  const isRanked = sort === 'relevantie' && words !== undefined;
  const isShown = step === undefined || step.isLast ? '' : `where (select count(*) from hits) > ${MOST_FOUND}`;
  const ranked = isRanked
    ? `select h.nummer, row_number() over (order by ts_rank(s.woorden, ${words}) desc, h.datum desc nulls last, h.nummer desc) as place
         from hits h join raadsfeed_zoek.stuk s on s.ctid = h.ctid ${isShown}`
    : `select nummer, row_number() over (order by ${order}) as place from hits ${isShown}`;
  // By its place in the table a row is read again quicker than by an index; it cannot change within a statement.
  const columns = 's.ctid, s.nummer, s.organisatiecode, s.resource_type, s.gremium, s.gremiumnaam, s.datum';
  const read =
    step === undefined
      ? `select ${columns} from raadsfeed_zoek.stuk s ${where} order by ${order} limit ${MOST_FOUND + 1}`
      : `select ${columns}, ${passes} as passes from raadsfeed_zoek.stuk s ${where}`;
  const { rows } = await db.query<Item & { facets: unknown }>({
    // Without a name: planned for its words and filters, which differ a thousandfold in how much they find.
    text: `with read as materialized (${read}),
           hits as materialized (
             select * from read ${step === undefined ? '' : 'where passes'} order by ${order} limit ${MOST_FOUND + 1}),
           ranked as (${ranked}),
           shown as (
             select place, ${ITEM} from ranked r join raadsfeed_zoek.stuk s on s.nummer = r.nummer ${CURRENT}
              where r.place > ${parameter(offset)}::integer and r.place <= ${parameter(offset + limit)}::integer)
           select shown.*, facets from (
             select json_build_object(
               'read', (select count(*) from read),
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
    read: Number(facets.read ?? 0),
    total: Number(facets.total ?? 0),
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
