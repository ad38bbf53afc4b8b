/**
 * Writes changes of the feed to the index, a batch in a fixed number of statements, in the transaction of the position. A document keeps its
 * place while its address and category stay the same; a new or returning one gets the next place of its organisation and category. Of
 * documents with the same address one is offered: the one that has a place, else the first.
 */
import type { QueryResultRow } from 'pg';
import type { Db } from '../../database/transaction.ts';
import type { Resource } from '../../lib/feed/resource.ts';
import { type FeedChange, type FeedIndex, MOST_REMOVED } from '../follow-index.ts';
import { toItemState, toOffer } from './offer.ts';
import { SITEMAP_PLACES, type SitemapName } from './sitemaps.ts';

interface Touched extends SitemapName {
  readonly modified: Date;
}

/** Runs a statement over rows, passed as the JSON of `$1`. */
async function withRows<R extends QueryResultRow>(
  db: Db,
  name: string,
  text: string,
  rows: readonly object[],
  ...more: readonly unknown[]
): Promise<R[]> {
  if (rows.length === 0) return [];
  return (await db.query<R>({ name: `raadsfeed-diwoo-${name}`, text, values: [JSON.stringify(rows), ...more] })).rows;
}

const KEYS = 'json_to_recordset($1::json) as g (organisatiecode text, bronidentificatie text)';

async function writeIndex(db: Db, changes: readonly FeedChange[]): Promise<void> {
  const items = changes.filter(({ resourceType }) => resourceType === 'Agendapunt');
  await writeItems(db, items);
  const documents = changes.filter(({ resourceType }) => resourceType === 'Informatieobject');
  const { changed, touched, addresses } = await writeDocuments(db, documents);
  // The documents of these items and of all items below them.
  const ofItems = await withRows<Resource>(
    db,
    'of-items',
    `with recursive below (o, b) as (
       select g.organisatiecode collate "C", g.bronidentificatie collate "C" from ${KEYS}
       union
       select a.organisatiecode, a.bronidentificatie from below p join diwoo.agendapunten a on a.organisatiecode = p.o and a.parent = p.b)
     select distinct v.organisatiecode, v.document as bronidentificatie
       from below p join diwoo.links v on v.item_organisatiecode = p.o and v.item = p.b`,
    items.map(({ resource }) => resource),
  );
  const judged = await judge(db, [...[...changed.values()].map(({ resource }) => resource), ...ofItems], addresses);
  const at = new Date(Math.max(...changes.map(({ storedAt }) => storedAt.getTime())));
  const rows = judged.map((row) => ({ ...row, at: changed.get(keyOf(row))?.storedAt ?? at }));
  // First the statements that free an address, then those that take it.
  await withRows(
    db,
    'leave-out',
    `update diwoo.documents s set exclusion = g.exclusion, page = null, place = null, modified = greatest(s.modified, g.at)
       from json_to_recordset($1::json) as g (organisatiecode text, bronidentificatie text, exclusion text, at timestamptz)
      where s.organisatiecode = g.organisatiecode and s.bronidentificatie = g.bronidentificatie`,
    rows.filter(({ exclusion }) => exclusion !== null),
  );
  const placed = await givePlaces(
    db,
    rows.filter(({ exclusion }) => exclusion === null),
  );
  const left = rows.flatMap(({ page, at: modified, ...row }) => (page === null ? [] : [{ ...row, page, modified }]));
  await touch(db, [...touched, ...left, ...placed]);
}

function keyOf({ organisatiecode, bronidentificatie }: Resource): string {
  return `${organisatiecode}/${bronidentificatie}`;
}

/** Stores the items that are closed or lie below another one; all others are open. */
async function writeItems(db: Db, items: readonly FeedChange[]): Promise<void> {
  const rows = items.map(({ resource, data }) => ({
    ...resource,
    ...(data && toItemState(resource.organisatiecode, data)),
  }));
  await withRows(
    db,
    'delete-items',
    `delete from diwoo.agendapunten a using ${KEYS}
      where a.organisatiecode = g.organisatiecode and a.bronidentificatie = g.bronidentificatie`,
    rows,
  );
  await withRows(
    db,
    'insert-items',
    `insert into diwoo.agendapunten (organisatiecode, bronidentificatie, is_closed, parent)
     select * from json_to_recordset($1::json) as g (organisatiecode text, bronidentificatie text, "isClosed" boolean, parent text)
      where "isClosed" or parent is not null`,
    rows,
  );
}

interface Known extends Resource {
  readonly number: number;
  readonly loc: string | null;
  readonly categorie: number;
  readonly page: number | null;
  readonly place: number | null;
}

/**
 * Replaces documents and their references to items. A document that is to be offered and has no place yet counts as `same-address` until it is
 * judged.
 * @returns the changed documents, with their sitemaps and addresses until now
 */
async function writeDocuments(db: Db, documents: readonly FeedChange[]) {
  const found = await withRows<Known>(
    db,
    'known',
    `select s.organisatiecode, s.bronidentificatie, s.number, s.loc, s.categorie, s.page, s.place
       from ${KEYS} join diwoo.documents s using (organisatiecode, bronidentificatie)`,
    documents.map(({ resource }) => resource),
  );
  const known = new Map(found.map((row) => [keyOf(row), row]));
  // Added again, unchanged, when the current state is read again.
  const isNew = ({ resource, sequenceNumber }: FeedChange): boolean =>
    known.get(keyOf(resource))?.number !== sequenceNumber;
  const changed = new Map(documents.filter(isNew).map((change) => [keyOf(change.resource), change]));
  await withRows(
    db,
    'delete',
    `with old_links as (
       delete from diwoo.links v using ${KEYS} where v.organisatiecode = g.organisatiecode and v.document = g.bronidentificatie)
     delete from diwoo.documents s using ${KEYS}
      where s.organisatiecode = g.organisatiecode and s.bronidentificatie = g.bronidentificatie`,
    [...changed.values()].map(({ resource }) => resource),
  );
  const rows = [...changed].flatMap(([key, { resource, sequenceNumber: number, storedAt: modified, data }]) => {
    if (data === undefined) return [];
    const { reason, ...offer } = toOffer(resource.organisatiecode, data);
    const old = known.get(key);
    const stays = reason === undefined && old?.loc === offer.loc && old?.categorie === offer.categorie;
    const { page, place } = stays && old !== undefined ? old : { page: null, place: null };
    const exclusion = place === null ? (reason ?? 'same-address') : null;
    return [{ ...resource, number, modified, ...offer, exclusion, page, place }];
  });
  await withRows(
    db,
    'insert',
    `insert into diwoo.documents
       (organisatiecode, bronidentificatie, number, modified, loc, categorie, titel, creatiedatum, formaat, submitted_on, exclusion, page, place)
     select * from json_to_recordset($1::json)
         as g (organisatiecode text, bronidentificatie text, number bigint, modified timestamptz, loc text, categorie integer, titel text,
               creatiedatum date, formaat text, "submittedOn" date, exclusion text, page integer, place bigint)`,
    rows,
  );
  await withRows(
    db,
    'insert-links',
    `insert into diwoo.links (organisatiecode, document, item_organisatiecode, item)
     select organisatiecode, document, item ->> 'organisatiecode', item ->> 'bronidentificatie'
       from json_to_recordset($1::json) as g (organisatiecode text, document text, item json)`,
    rows.flatMap(({ organisatiecode, bronidentificatie: document, items }) =>
      items.map((item) => ({ organisatiecode, document, item })),
    ),
  );
  const touched = found.flatMap(({ page, ...row }) => {
    const change = changed.get(keyOf(row));
    return change === undefined || page === null ? [] : [{ ...row, page, modified: change.storedAt }];
  });
  return { changed, touched, addresses: found.flatMap(({ loc }) => loc ?? []) };
}

interface Judged extends Resource {
  readonly categorie: number;
  readonly page: number | null;
  /** Why it is left out from now on; `null`: it is offered. */
  readonly exclusion: string | null;
}

/**
 * Judges documents, and all documents that have their addresses or the given ones: whether all items that they name are closed, themselves or through
 * a parent, and which one is offered under an address.
 * @returns those whose state differs from the stored one, in the order of their records
 */
function judge(db: Db, documents: readonly Resource[], addresses: readonly string[]): Promise<Judged[]> {
  return withRows(
    db,
    'judge',
    `with recursive changed as materialized (
       select g.organisatiecode collate "C" as o, g.bronidentificatie collate "C" as b, s.loc
         from ${KEYS} left join diwoo.documents s using (organisatiecode, bronidentificatie)),
     judged as materialized (
       select o, b from changed
       union
       select s.organisatiecode, s.bronidentificatie from diwoo.documents s
        where s.loc in (select loc from changed union select unnest($2::text[]))),
     v as materialized (
       select v.organisatiecode, v.document, v.item_organisatiecode, v.item
         from judged join diwoo.links v on v.organisatiecode = judged.o and v.document = judged.b),
     above (o, b, item) as (
       select distinct item_organisatiecode, item, item from v
       union
       select above.o, above.b, a.parent from above
         join diwoo.agendapunten a on a.organisatiecode = above.o and a.bronidentificatie = above.item
        where a.parent is not null),
     shut as (
       select distinct above.o, above.b from above
         join diwoo.agendapunten a on a.organisatiecode = above.o and a.bronidentificatie = above.item and a.is_closed),
     closed as (
       select v.organisatiecode as o, v.document as b
         from v left join shut on shut.o = v.item_organisatiecode and shut.b = v.item
        group by 1, 2 having bool_and(shut.b is not null)),
     reasons as (
       select s.*, case when s.exclusion not in ('closed-items-only', 'same-address') then s.exclusion
                        when closed.b is not null then 'closed-items-only' end as reason
         from judged join diwoo.documents s on s.organisatiecode = judged.o and s.bronidentificatie = judged.b
         left join closed on closed.o = judged.o and closed.b = judged.b),
     outcome as (
       select *, case when reason is null and row_number() over (partition by loc, reason is null order by place is null, number) > 1
                      then 'same-address' else reason end as now
         from reasons)
     select organisatiecode, bronidentificatie, categorie, page, now as exclusion
       from outcome where now is distinct from exclusion order by number`,
    documents,
    addresses,
  );
}

/** Offers documents, each at the next place of its organisation and category, in the order given. */
function givePlaces(db: Db, rows: readonly object[]): Promise<Touched[]> {
  return withRows(
    db,
    'give-places',
    `with g as (
       select g.*, row_number() over (partition by organisatiecode, categorie order by position) as i,
              count(*) over (partition by organisatiecode, categorie) as size
         from rows from (json_to_recordset($1::json) as (organisatiecode text, bronidentificatie text, categorie integer, at timestamptz))
              with ordinality as g (organisatiecode, bronidentificatie, categorie, at, position)),
     series as (
       insert into diwoo.series as r (organisatiecode, categorie, next_place)
       select distinct organisatiecode, categorie, size from g
           on conflict (organisatiecode, categorie) do update set next_place = r.next_place + excluded.next_place
       returning organisatiecode, categorie, next_place)
     update diwoo.documents s
        set exclusion = null, place = r.next_place - g.size + g.i - 1, page = (r.next_place - g.size + g.i - 1) / ${SITEMAP_PLACES} + 1,
            modified = greatest(s.modified, g.at)
       from g join series r on r.organisatiecode = g.organisatiecode and r.categorie = g.categorie
      where s.organisatiecode = g.organisatiecode and s.bronidentificatie = g.bronidentificatie
     returning s.organisatiecode, s.categorie, s.page, s.modified`,
    rows,
  );
}

async function touch(db: Db, sitemaps: readonly Touched[]): Promise<void> {
  await withRows(
    db,
    'touch',
    `insert into diwoo.sitemaps as s (organisatiecode, categorie, page, size, modified)
     select g.organisatiecode, g.categorie, g.page,
            (select count(*) from diwoo.documents d
              where d.organisatiecode = g.organisatiecode and d.categorie = g.categorie and d.page = g.page and d.place is not null),
            max(g.modified)
       from json_to_recordset($1::json) as g (organisatiecode text, categorie integer, page integer, modified timestamptz)
      group by 1, 2, 3
         on conflict (categorie, organisatiecode, page) do update
        set size = excluded.size, modified = greatest(s.modified, excluded.modified)`,
    sitemaps,
  );
}

/**
 * Removes documents, items and references whose resource no longer exists or has another record: a bounded number of them.
 * @returns whether all of them are gone
 */
async function dropStrays(db: Db): Promise<boolean> {
  const strays = (table: string, condition: string, returning = '1'): Promise<{ rows: Touched[] }> =>
    db.query(
      `delete from diwoo.${table} where ctid = any (array(select s.ctid from diwoo.${table} s where not exists (${condition}) limit ${MOST_REMOVED}))
       returning ${returning}`,
    );
  const current = (resourceType: string): string =>
    `select from raadsfeed.current_records t where t.organisatiecode = s.organisatiecode and t.resource_type = '${resourceType}'
        and t.bronidentificatie = s.bronidentificatie`;
  const documents = await strays(
    'documents',
    `${current('Informatieobject')} and t.sequence_number = s.number`,
    'organisatiecode, categorie, page, now() as modified',
  );
  await touch(
    db,
    documents.rows.filter(({ page }) => page !== null),
  );
  const links = await strays(
    'links',
    'select from diwoo.documents d where d.organisatiecode = s.organisatiecode and d.bronidentificatie = s.document',
  );
  const items = await strays('agendapunten', current('Agendapunt'));
  return [documents, links, items].every(({ rows }) => rows.length < MOST_REMOVED);
}

/** Until the whole current state has been read, the offer is incomplete. */
export const DIWOO_INDEX: FeedIndex = { schema: 'diwoo', stepRecords: 1000, write: writeIndex, begin: dropStrays };
