/**
 * Fills the search index with many documents in minutes: their rows come from the index's own code and its own
 * expression for the words, are copied in without the feed around them, and their word index is built afterwards. The
 * feed contains only what pages check: that the rows are current.
 */
import { once } from 'node:events';
import pg from 'pg';
import { from as copyFrom } from 'pg-copy-streams';
import type { Resource, ResourceType } from '../../src/lib/feed/resource.ts';
import type { JsonObject } from '../../src/lib/json/json-value.ts';
import { toEntry } from '../../src/raadsfeed/pages/search/entry.ts';
import { fold } from '../../src/raadsfeed/pages/search/fold.ts';
import { OWN_WORDS, WORDS } from '../../src/raadsfeed/pages/search/follow-feed.ts';
import { DAYS, documentData, meetingData, ORGANISATIONS, PER_MEETING } from './council-texts.ts';

/** Numbers of filled rows, higher than any benchmark feed publishes. */
export const FIRST_NUMBER = 1_000_000_000;
const BATCH = 10_000;
const COLUMNS = 'o, t, b, n, stored_at, titel, datum, soort, vergadering, gremium, gremiumnaam, summary, a, x, c';

/** Concurrent connections that fill the table. */
const WORKERS = 4;
/** Distinct texts. Documents above this number reuse them with another organisation, meeting and date. */
const TEXTS = 100_000;

/**
 * Fills in documents with these numbers, and their meetings.
 * @returns the duration in milliseconds
 */
export async function fillIndex(
  url: string,
  first: number,
  last: number,
): Promise<{ rowsMs: number; indexMs: number }> {
  const since = performance.now();
  const pool = new pg.Pool({
    connectionString: url,
    max: WORKERS,
    options: '-c synchronous_commit=off -c maintenance_work_mem=512MB',
  });
  try {
    // A table is filled faster without its indexes; they are rebuilt afterwards.
    const { rows: indexes } = await pool.query<{ name: string; definition: string }>(`
      select indexrelid::regclass::text as name, pg_get_indexdef(indexrelid) as definition from pg_index
       where indrelid in ('pages.items'::regclass, 'pages.links'::regclass) and not indisunique`);
    for (const { name } of indexes) await pool.query(`drop index ${name}`);
    await inBatches(pool, first, Math.min(last, TEXTS), fillBatch);
    await inBatches(pool, Math.max(first, TEXTS), last, copyBatch);
    const rowsMs = performance.now() - since;
    await Promise.all(indexes.map(({ definition }) => pool.query(definition)));
    await pool.query(`
      insert into pages.words (word, rows)
        select reverse(substr(word, 2)), ndoc * ${Math.ceil(last / TEXTS)} from ts_stat('select words from pages.items where number < ${FIRST_NUMBER + 2 * TEXTS}')
         where word ^@ '<' on conflict (word) do update set rows = excluded.rows`);
    return { rowsMs, indexMs: performance.now() - since - rowsMs };
  } finally {
    await pool.end();
  }
}

async function inBatches(
  pool: pg.Pool,
  first: number,
  last: number,
  work: (client: pg.PoolClient, first: number, last: number) => Promise<void>,
): Promise<void> {
  let next = first;
  const worker = async (): Promise<void> => {
    const client = await pool.connect();
    try {
      while (next < last) {
        const at = next;
        next = Math.min(last, at + BATCH);
        await work(client, at, next);
      }
    } finally {
      client.release();
    }
  };
  await Promise.all(Array.from({ length: WORKERS }, worker));
}

/** Documents filled in so far. */
export async function countFilled(url: string): Promise<number> {
  const last = await ask(url, 'select max(number) as n from pages.items');
  return last < FIRST_NUMBER ? 0 : (last - FIRST_NUMBER + 1) / 2;
}

/** Documents that were published. */
export async function countPublished(url: string): Promise<number> {
  return await ask(
    url,
    `select count(*) as n from pages.items where number < ${FIRST_NUMBER} and resource_type = 'Informatieobject'`,
  );
}

async function ask(url: string, question: string): Promise<number> {
  const client = new pg.Client(url);
  await client.connect();
  try {
    const { rows } = await client.query(question);
    return Number(rows[0]?.n ?? 0);
  } finally {
    await client.end();
  }
}

async function fillBatch(client: pg.PoolClient, first: number, last: number): Promise<void> {
  await client.query(`create temporary table if not exists filled (o text, t text, b text, n bigint, stored_at timestamptz, titel text, datum timestamptz,
    soort text, vergadering text, gremium text, gremiumnaam text, summary jsonb, a text, x text, c text)`);
  const copy = client.query(copyFrom(`copy filled (${COLUMNS}) from stdin`));
  for (let i = first; i < last; i += 1) {
    const m = Math.floor(i / PER_MEETING);
    const meeting = meetingData(m);
    const body = meeting.georganiseerddoorgremium;
    if (i % PER_MEETING === 0) copy.write(row('Vergadering', FIRST_NUMBER + 2 * i, meeting, {}));
    const known = { gremium: body.gremiumidentificatie, gremiumnaam: body.gremiumnaam };
    if (!copy.write(row('Informatieobject', FIRST_NUMBER + 2 * i + 1, documentData(i), known)))
      await once(copy, 'drain');
  }
  copy.end();
  await once(copy, 'finish');
  await client.query(`
    insert into raadsfeed.organisaties (organisatiecode, naam, laatst_bijgewerkt)
      select distinct o, 'Gemeente ' || right(o, 2)::integer, now() from filled on conflict do nothing;
    insert into raadsfeed.current_records (organisatiecode, resource_type, bronidentificatie, sequence_number, content_hash) select o, t, b, n, '' from filled;
    insert into pages.links (organisatiecode, from_type, from_id, to_organisatiecode, to_type, to_id)
      select o, t, b, o, 'Vergadering', vergadering from filled where vergadering is not null;
    insert into pages.items
        (number, organisatiecode, resource_type, bronidentificatie, stored_at, first_number, first_stored_at, titel, datum, soort, vergadering,
         gremium, gremiumnaam, summary, words)
      select n, o, t, b, stored_at, n, stored_at, titel, datum, soort, vergadering, gremium, gremiumnaam, summary, ${WORDS} from filled;
    truncate filled`);
}

/** The texts of the documents with numbers below `TEXTS`. */
async function copyBatch(client: pg.PoolClient, first: number, last: number): Promise<void> {
  const from = FIRST_NUMBER + 2 * (first % TEXTS);
  await client.query(`create temporary table if not exists copies (like pages.items)`);
  const shift = first - (first % TEXTS);
  await client.query(
    `insert into copies
     select n.number, n.o, s.resource_type, n.b, s.stored_at, s.titel, n.datum, s.soort, n.v, s.gremium, s.gremiumnaam, s.summary,
            ${OWN_WORDS} || ts_filter(s.words, '{b}') || pages.place_of(n.o, n.datum), n.number, s.stored_at
       from (select s.*, $3::bigint / ${PER_MEETING} + case when s.resource_type = 'Vergadering' then substr(s.bronidentificatie, 3) else substr(s.vergadering, 3) end::bigint as m
               from pages.items s where s.number >= $1::bigint and s.number < $2::bigint) s
      cross join lateral (
            select s.number + 2 * $3::bigint as number,
                   case when s.resource_type = 'Vergadering' then 'v-' || s.m else 'd-' || substr(s.bronidentificatie, 3)::bigint + $3::bigint end as b,
                   case when s.vergadering is not null then 'v-' || s.m end as v,
                   'gm99' || lpad((1 + floor(${ORGANISATIONS} * power((s.m * 7919 % 10007) / 10007.0, 1.5)))::text, 2, '0') as o,
                   timestamptz '2011-07-01 19:30Z' + s.m * 104729 % ${DAYS} * interval '1 day' as datum) n`,
    [from, FIRST_NUMBER + 2 * ((first % TEXTS) + last - first), shift],
  );
  await client.query(`
    insert into raadsfeed.current_records (organisatiecode, resource_type, bronidentificatie, sequence_number, content_hash)
      select organisatiecode, resource_type, bronidentificatie, number, '' from copies;
    insert into pages.links (organisatiecode, from_type, from_id, to_organisatiecode, to_type, to_id)
      select organisatiecode, resource_type, bronidentificatie, organisatiecode, 'Vergadering', vergadering from copies where vergadering is not null;
    insert into pages.items select * from copies;
    truncate copies`);
}

function row(
  resourceType: ResourceType,
  sequenceNumber: number,
  data: JsonObject & { readonly bronidentificatie: string; readonly organisatie: { readonly gemeente: string } },
  known: { readonly gremium?: string; readonly gremiumnaam?: string },
): string {
  const resource: Resource = { organisatiecode: data.organisatie.gemeente, bronidentificatie: data.bronidentificatie };
  const entry = { ...toEntry(resourceType, resource, data), ...known };
  const values = [
    ...[resource.organisatiecode, resourceType, resource.bronidentificatie, String(sequenceNumber)],
    ...[new Date().toISOString(), entry.titel, entry.datum, entry.soort, entry.vergadering, entry.gremium],
    ...[entry.gremiumnaam, JSON.stringify(entry.summary), ...entry.words.slice(0, 2), fold(entry.gremiumnaam ?? '')],
  ];
  // The benchmark's texts contain no tab, newline or backslash except JSON's own escapes.
  return `${values.map((value) => value?.replaceAll('\\', '\\\\') ?? '\\N').join('\t')}\n`;
}
