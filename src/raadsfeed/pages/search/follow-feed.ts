/** How the index of pages and search follows the feed: each record's entry, written a batch at a time in a fixed number of statements. */
import type pg from 'pg';
import type { Db } from '../../../database/transaction.ts';
import { type FeedChange, type FeedIndex, MOST_REMOVED } from '../../follow-index.ts';
import { columnsOf } from '../../store/state.ts';
import { type Entry, toEntry } from './entry.ts';

export const PAGES_INDEX: FeedIndex = { schema: 'pages', stepRecords: 500, table: 'items', write, begin };

async function begin(db: Db): Promise<boolean> {
  let isDone = true;
  for (const table of ['items', 'links', 'words']) {
    const { rowCount } = await db.query(
      `delete from pages.${table} where ctid = any (array(select ctid from pages.${table} limit ${MOST_REMOVED}))`,
    );
    isDone &&= (rowCount ?? 0) < MOST_REMOVED;
  }
  return isDone;
}

async function write(db: Db, changes: readonly FeedChange[]): Promise<void> {
  if (changes.length === 0) return;
  const counted: Counted[] = [];
  const count = async (query: pg.QueryConfig): Promise<void> => {
    counted.push(...(await db.query<Counted>(query)).rows);
  };
  await count({
    name: 'pages-remove',
    text: `with unlinked as (
             delete from pages.links v using unnest($1::text[], $2::text[], $3::text[]) as g (o, t, b)
              where v.organisatiecode = g.o and v.from_type = g.t and v.from_id = g.b),
                before as (
             delete from pages.items s using unnest($1::text[], $2::text[], $3::text[], $4::boolean[]) as g (o, t, b, gone)
              where s.organisatiecode = g.o and s.resource_type = g.t and s.bronidentificatie = g.b and g.gone
             returning s.words)
           ${countWords('select -1, words from before')}`,
    values: [...columnsOf(changes), changes.map(({ data }) => data === undefined)],
  });
  const present = changes.flatMap(({ data, ...change }) =>
    data === undefined ? [] : [{ ...change, entry: toEntry(change.resourceType, change.resource, data) }],
  );
  if (present.length > 0) {
    await count(writeEntries(present));
    await writeReferences(db, present);
    await count(fillInMeetings(columnsOf(present)));
  }
  await db.query({
    name: 'pages-forget-words',
    text: 'delete from pages.words where word = any ($1::text[]) and rows <= 0',
    values: [counted.map(({ word }) => word)],
  });
}

interface Counted extends pg.QueryResultRow {
  readonly word: string;
}

/** Adds to the number of rows that have each word, after `with`. @param rows a query of 1 or -1 and the words of a row, before and after a change */
const countWords = (rows: string): string => `, counted as (
  insert into pages.words as w (word, rows)
  select reverse(substr(lexeme, 2)), sum(n) from (${rows}) r (n, words), unnest(tsvector_to_array(r.words)) lexeme
   where lexeme ^@ '<' group by 1 having sum(n) <> 0 order by 1
      on conflict (word) do update set rows = w.rows + excluded.rows
  returning word, rows)
  select word from counted where rows <= 0`;

type Present = Omit<FeedChange, 'data'> & { readonly entry: Entry };

/** The words of a row: of its texts `a` and `x`, of the name of its body `c`, and of the organisation and day. Each has its own weights. */
export const WORDS = `pages.words_of(a, '=', 'A') || pages.words_of(x, '', 'A') || pages.words_of(c, '@', 'B') || pages.place_of(o, datum)`;
export const OWN_WORDS = `ts_filter(s.words, '{a}')`;

/** The first record of `g` since it was last removed; pruned history does not count. Each kind has an index of its own. */
const FIRST_RECORD = `
  select r.sequence_number, r.stored_at from raadsfeed.records r
   where r.op = 'upsert' and r.organisatiecode = g.o and r.resource_type = g.t and r.bronidentificatie = g.b and r.sequence_number > coalesce((
         select max(d.sequence_number) from raadsfeed.records d
          where d.op <> 'upsert' and d.organisatiecode = g.o and d.resource_type = g.t and d.bronidentificatie = g.b and d.sequence_number < g.n), 0)
   order by r.sequence_number limit 1`;

function writeEntries(present: readonly Present[]): pg.QueryConfig {
  const rows = present.map(({ sequenceNumber: n, resource, resourceType: t, storedAt: stored_at, entry }) => {
    const { organisatiecode: o, bronidentificatie: b } = resource;
    const { words, references: _, ...columns } = entry;
    const [a, x, c] = words;
    return { ...columns, n, o, t, b, stored_at, a, x, c };
  });
  return {
    name: 'pages-write',
    text: `with g as materialized (
             select * from jsonb_to_recordset($1::jsonb) as g (
                    n bigint, o text, t text, b text, stored_at timestamptz, titel text, datum timestamptz, soort text,
                    vergadering text, gremium text, gremiumnaam text, summary jsonb, a text, x text, c text)),
           before as (
             select s.words from g join pages.items s on s.organisatiecode = g.o and s.resource_type = g.t and s.bronidentificatie = g.b
              where s.number <= g.n),
           written as (
           insert into pages.items as s
             (number, organisatiecode, resource_type, bronidentificatie, stored_at, first_number, first_stored_at, titel, datum, soort,
              vergadering, gremium, gremiumnaam, summary, words)
           select n, o, t, b, g.stored_at, coalesce(f.sequence_number, n), coalesce(f.stored_at, g.stored_at), titel, datum, soort,
                  vergadering, gremium, gremiumnaam, summary, ${WORDS}
             from g left join lateral (${FIRST_RECORD}) f on true
           on conflict (organisatiecode, resource_type, bronidentificatie) do update
             set (number, stored_at, first_number, first_stored_at, titel, datum, soort, vergadering, gremium, gremiumnaam, summary, words) =
                 (excluded.number, excluded.stored_at, excluded.first_number, excluded.first_stored_at, excluded.titel, excluded.datum,
                  excluded.soort, excluded.vergadering, excluded.gremium, excluded.gremiumnaam, excluded.summary, excluded.words)
           where s.number <= excluded.number
           returning s.words)
           ${countWords('select -1, words from before union all select 1, words from written')}`,
    values: [JSON.stringify(rows)],
  };
}

async function writeReferences(db: Db, present: readonly Present[]): Promise<void> {
  const rows = present.flatMap(({ resource, resourceType, entry }) =>
    entry.references.map(({ organisatiecode, resourceType: naarType, bronidentificatie, rol }) => [
      ...[resource.organisatiecode, resourceType, resource.bronidentificatie],
      ...[organisatiecode, naarType, bronidentificatie, rol],
    ]),
  );
  if (rows.length === 0) return;
  await db.query({
    name: 'pages-write-links',
    text: `insert into pages.links (organisatiecode, from_type, from_id, to_organisatiecode, to_type, to_id, rol)
           select r ->> 0, r ->> 1, r ->> 2, r ->> 3, r ->> 4, r ->> 5, r ->> 6 from jsonb_array_elements($1::jsonb) r
           on conflict do nothing`,
    values: [JSON.stringify(rows)],
  });
}

/**
 * Gives documents the meeting of their item, and items and documents the body and day of their meeting, in whatever order the feed has them: for the
 * batch and everything that refers to it.
 */
function fillInMeetings(keys: readonly (readonly string[])[]): pg.QueryConfig {
  return {
    name: 'pages-fill-in-meetings',
    text: `with g as materialized (select * from unnest($1::text[], $2::text[], $3::text[]) as g (o, t, b)),
                touched as (
                  select s.number from g join pages.items s on s.organisatiecode = g.o and s.resource_type = g.t and s.bronidentificatie = g.b
                   where g.t <> 'Vergadering'
                  union
                  select s.number from g join pages.items s on g.t = 'Vergadering' and s.organisatiecode = g.o and s.vergadering = g.b
                  union
                  select s.number from g
                    join pages.links v on g.t = 'Agendapunt' and v.to_organisatiecode = g.o and v.to_type = g.t and v.to_id = g.b
                    join pages.items s on s.organisatiecode = v.organisatiecode and s.resource_type = v.from_type and s.bronidentificatie = v.from_id),
                placed as (
                  select s.number, s.words, ts_filter(m.words, '{b}') as body, i.vergadering, m.gremium, m.gremiumnaam,
                         case when s.resource_type = 'Agendapunt' and not (s.summary ?| array['starttijd', 'geplandestarttijd'])
                              then m.datum else s.datum end as datum
                    from touched join pages.items s using (number)
                   cross join lateral (select coalesce(s.vergadering, (
                           select a.vergadering from pages.links v
                             join pages.items a on a.organisatiecode = v.to_organisatiecode and a.resource_type = v.to_type and a.bronidentificatie = v.to_id
                            where s.resource_type = 'Informatieobject' and v.organisatiecode = s.organisatiecode and v.from_type = s.resource_type
                              and v.from_id = s.bronidentificatie and v.to_type = 'Agendapunt' and v.to_organisatiecode = v.organisatiecode
                              and a.vergadering is not null
                            limit 1)) as vergadering) i
                    left join pages.items m
                      on m.organisatiecode = s.organisatiecode and m.resource_type = 'Vergadering' and m.bronidentificatie = i.vergadering
                   where i.vergadering is not null),
                changed as (
                  update pages.items s
                     set vergadering = p.vergadering, gremium = p.gremium, gremiumnaam = p.gremiumnaam, datum = p.datum,
                         words = ${OWN_WORDS} || coalesce(p.body, '') || pages.place_of(s.organisatiecode, p.datum)
                    from placed p
                   where s.number = p.number
                     and (s.vergadering, s.gremium, s.gremiumnaam, s.datum, ts_filter(s.words, '{b}'))
                         is distinct from (p.vergadering, p.gremium, p.gremiumnaam, p.datum, coalesce(p.body, ''))
                  returning p.words as before, s.words as after)
           ${countWords('select -1, before from changed union all select 1, after from changed')}`,
    values: [...keys],
  };
}
