/**
 * Search over the index. Whatever the index still holds, a result is only shown while the feed has that very record: a redaction takes
 * effect here with its commit.
 */
import type { Db } from '../../kernel/database/transaction.ts';
import { isRecord, type JsonObject } from '../../kernel/json-value.ts';
import type { ResourceType } from '../domain/resource.ts';
import type { SearchQuery } from './fold.ts';

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
  /** Bodies, when one organisation was asked for: identifications are an organisation's own. */
  readonly bodies: readonly Facet[];
}

/** Of more results the newest so many are ranked, counted and shown. */
export const MOST_FOUND = 1000;

/**
 * Searches. A common word is looked for in the newest half years first, then in three years, then in all: each step is exact, because
 * what is newer than its beginning is all in it.
 * @param now which half years are the newest
 */
export async function search(db: Db, request: SearchRequest, now: Date): Promise<SearchResult> {
  const { query, from, to } = request;
  if (query === undefined) return await searchIn(db, request, undefined);
  if (from !== undefined || to !== undefined) return await searchIn(db, request, yearsBetween(from, to, now));
  for (const period of newestPeriods(now)) {
    const found = await searchIn(db, request, period);
    if (found.total > MOST_FOUND) return found;
  }
  return await searchIn(db, request, undefined);
}

/** Years after this one that something may be planned in. */
const YEARS_AHEAD = 3;

function newestPeriods(now: Date): string[] {
  const year = now.getUTCFullYear();
  const ahead = Array.from({ length: YEARS_AHEAD }, (_, i) => `'_${year + 1 + i}'`);
  const half = now.getUTCMonth() < 6 ? [`'_${year}'`, `'_${year - 1}b'`] : [`'_${year}'`];
  const recent = [year, year - 1, year - 2].map((one) => `'_${one}'`);
  return [half, recent].map((lexemes) => [...ahead, ...lexemes].join(' | '));
}

/** The years that two days lie in, as lexemes; `undefined` when they are too many to help. */
function yearsBetween(from: string | undefined, to: string | undefined, now: Date): string | undefined {
  const first = Number(from?.slice(0, 4) ?? 0);
  const last = Number(to?.slice(0, 4) ?? now.getUTCFullYear() + YEARS_AHEAD);
  // A day in Amsterdam may be the day before in UTC.
  const count = last - first + 2;
  if (count > 20 || count < 1) return undefined;
  return Array.from({ length: count }, (_, i) => `'_${first - 1 + i}'`).join(' | ');
}

/** @param period lexemes, in the form of a tsquery */
async function searchIn(db: Db, request: SearchRequest, period: string | undefined): Promise<SearchResult> {
  const { query, sort, offset, limit } = request;
  const { conditions, values } = filterOf(request);
  const parameter = (value: unknown): string => `$${values.push(value)}`;
  let words = '';
  if (query !== undefined) {
    const web = `websearch_to_tsquery('dutch', ${parameter(query.web)}::text)`;
    words =
      query.beginnings === undefined ? web : `(${web} || to_tsquery('simple', ${parameter(query.beginnings)}::text))`;
    conditions.push(`s.woorden @@ ${period === undefined ? words : `(${words} && ${parameter(period)}::tsquery)`}`);
  }
  const rank = sort === 'relevantie' && words !== '' ? `ts_rank(woorden, ${words})` : '0';
  const where = conditions.length === 0 ? '' : `where ${conditions.join(' and ')}`;
  const { rows } = await db.query<Item & { facets: unknown }>({
    // Without a name: planned for its words and filters, which differ a thousandfold in how much they find.
    text: `with hits as materialized (
             select s.nummer, s.organisatiecode, s.resource_type, s.gremium, s.gremiumnaam, s.datum${words === '' ? '' : ', s.woorden'}
               from raadsfeed_zoek.stuk s ${where}
              order by s.datum desc nulls last, s.nummer desc
              limit ${MOST_FOUND + 1}),
           ranked as (
             select nummer, row_number() over (order by ${rank} desc, datum desc nulls last, nummer desc) as place from hits),
           shown as (
             select place, ${ITEM} from ranked r join raadsfeed_zoek.stuk s on s.nummer = r.nummer ${CURRENT}
              where r.place > ${parameter(offset)}::integer and r.place <= ${parameter(offset + limit)}::integer)
           select shown.*, facets from (
             select json_build_object(
               'total', (select count(*) from hits),
               'types', (select json_agg(f) from (select resource_type as value, count(*) from hits group by 1 order by 2 desc) f),
               'organisations', (select json_agg(f) from (select organisatiecode as value, count(*) from hits group by 1 order by 2 desc, 1 limit 20) f),
               'bodies', (select json_agg(f) from (select gremium as value, max(gremiumnaam) as label, count(*) from hits
                                                    where gremium is not null group by 1 order by 3 desc, 1 limit 20) f)) as facets) f
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
    bodies: request.organisatiecode === undefined ? [] : toFacets(facets.bodies),
  };
}

function filterOf({ organisatiecode, gremium, resourceType, from, to }: SearchFilter): {
  conditions: string[];
  values: unknown[];
} {
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
    values: [texts, query.web, query.beginnings ?? null, `HighlightAll=true, StartSel=${START}, StopSel=${END}`],
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
