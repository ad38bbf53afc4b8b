/** Writes what changed in the feed into the index, a batch in a fixed number of statements. Runs in the transaction of the position. */

import type { Db } from '../../database/transaction.ts';
import type { Resource } from '../../raadsfeed/domain/resource.ts';
import { MOST_REMOVED } from '../../raadsfeed/store/follow-index.ts';
import type { ItemState, Offer } from './offer.ts';
import {
  type Document,
  documentKey,
  type Place,
  placeDocuments,
  SITEMAP_PLACES,
  type TouchedSitemap,
  touchedSitemaps,
} from './place-documents.ts';

interface Changed {
  readonly resource: Resource;
  readonly sequenceNumber: number;
  readonly storedAt: Date;
}

/** A change of the feed; without `offer` or `item` the resource is gone. */
export type IndexChange = Changed &
  (
    | { readonly resourceType: 'Informatieobject'; readonly offer: Offer | undefined }
    | { readonly resourceType: 'Agendapunt'; readonly item: ItemState | undefined }
  );

type DocumentChange = Extract<IndexChange, { resourceType: 'Informatieobject' }>;
type ItemChange = Extract<IndexChange, { resourceType: 'Agendapunt' }>;

/** Applies changes, at most one of each resource. */
export async function writeIndex(db: Db, latest: readonly IndexChange[]): Promise<void> {
  if (latest.length === 0) return;
  const documents = latest.filter((change): change is DocumentChange => change.resourceType === 'Informatieobject');
  const items = latest.filter((change): change is ItemChange => change.resourceType === 'Agendapunt');
  await writeItems(db, items);
  await writeReferences(db, documents);
  const changed = documents.map(({ resource, sequenceNumber: nummer, storedAt: gewijzigd, offer }) => ({
    ...{ key: documentKey(resource), document: { ...resource, nummer, gewijzigd }, offer },
  }));
  const affected = [...documents.map(({ resource }) => resource), ...(await documentsOf(db, items))];
  if (affected.length === 0) return;
  const before = await readWithAddresses(
    db,
    affected,
    documents.flatMap(({ offer }) => offer?.loc ?? []),
  );
  const at = new Date(Math.max(...latest.map(({ storedAt }) => storedAt.getTime())));
  const { gone, written, placeless } = placeDocuments({
    ...{ before, changed, at },
    judged: new Set(affected.map(documentKey)),
    closed: await closedDocuments(db, affected),
  });
  const placed = await givePlaces(db, placeless);
  const after = [...written, ...placed];
  const goneAt = new Map(changed.map(({ key, document }) => [key, document.gewijzigd]));
  // First what frees an address, then what takes it.
  await remove(db, gone);
  await write(db, [...written, ...placed]);
  await touch(
    db,
    touchedSitemaps(before, after, new Map(gone.map((one) => [one, goneAt.get(documentKey(one)) ?? at]))),
  );
}

async function writeItems(db: Db, items: readonly ItemChange[]): Promise<void> {
  if (items.length === 0) return;
  const kept = items.filter(({ item }) => item !== undefined && (item.besloten || item.hoofd !== undefined));
  await db.query({
    name: 'raadsfeed-diwoo-punten-weg',
    text: `delete from diwoo.agendapunt a using unnest($1::text[], $2::text[]) as g (o, b)
            where a.organisatiecode = g.o and a.bronidentificatie = g.b`,
    values: keysOf(items.map(({ resource }) => resource)),
  });
  if (kept.length === 0) return;
  await db.query({
    name: 'raadsfeed-diwoo-punten',
    text: `insert into diwoo.agendapunt (organisatiecode, bronidentificatie, besloten, hoofd)
           select * from unnest($1::text[], $2::text[], $3::boolean[], $4::text[])`,
    values: [
      ...keysOf(kept.map(({ resource }) => resource)),
      kept.map(({ item }) => item?.besloten === true),
      kept.map(({ item }) => item?.hoofd ?? null),
    ],
  });
}

async function writeReferences(db: Db, documents: readonly DocumentChange[]): Promise<void> {
  if (documents.length === 0) return;
  await db.query({
    name: 'raadsfeed-diwoo-verwijzingen-weg',
    text: `delete from diwoo.links v using unnest($1::text[], $2::text[]) as g (o, b)
            where v.organisatiecode = g.o and v.van = g.b`,
    values: keysOf(documents.map(({ resource }) => resource)),
  });
  const rows = documents.flatMap(({ resource, offer }) => (offer?.items ?? []).map((to) => ({ resource, to })));
  if (rows.length === 0) return;
  await db.query({
    name: 'raadsfeed-diwoo-verwijzingen',
    text: `insert into diwoo.links (organisatiecode, van, naar_organisatie, naar)
           select * from unnest($1::text[], $2::text[], $3::text[], $4::text[])`,
    values: [...keysOf(rows.map(({ resource }) => resource)), ...keysOf(rows.map(({ to }) => to))],
  });
}

/** The documents of these items and of all items below them. */
async function documentsOf(db: Db, items: readonly ItemChange[]): Promise<Resource[]> {
  if (items.length === 0) return [];
  const { rows } = await db.query<{ organisatiecode: string; bronidentificatie: string }>({
    name: 'raadsfeed-diwoo-stukken-van',
    text: `with recursive punt (o, b) as (
             select g.o collate "C", g.b collate "C" from unnest($1::text[], $2::text[]) as g (o, b)
             union
             select a.organisatiecode, a.bronidentificatie from punt p
               join diwoo.agendapunt a on a.organisatiecode = p.o and a.hoofd = p.b)
           select distinct v.organisatiecode, v.van as bronidentificatie
             from punt p join diwoo.links v on v.naar_organisatie = p.o and v.naar = p.b`,
    values: keysOf(items.map(({ resource }) => resource)),
  });
  return rows;
}

/** Which of these documents name items that are all closed, themselves or by what they lie below. */
async function closedDocuments(db: Db, documents: readonly Resource[]): Promise<Set<string>> {
  const { rows } = await db.query<{ organisatiecode: string; bronidentificatie: string }>({
    name: 'raadsfeed-diwoo-besloten',
    text: `with recursive v as materialized (
             select v.organisatiecode, v.van, v.naar_organisatie, v.naar
               from unnest($1::text[], $2::text[]) as g (o, b)
               join diwoo.links v on v.organisatiecode = g.o and v.van = g.b),
           op (o, b, huidig) as (
             select distinct naar_organisatie, naar, naar from v
             union
             select op.o, op.b, a.hoofd from op
               join diwoo.agendapunt a on a.organisatiecode = op.o and a.bronidentificatie = op.huidig
              where a.hoofd is not null),
           dicht as (
             select distinct op.o, op.b from op
               join diwoo.agendapunt a on a.organisatiecode = op.o and a.bronidentificatie = op.huidig and a.besloten)
           select v.organisatiecode, v.van as bronidentificatie
             from v left join dicht on dicht.o = v.naar_organisatie and dicht.b = v.naar
            group by v.organisatiecode, v.van
           having bool_and(dicht.b is not null)`,
    values: keysOf(documents),
  });
  return new Set(rows.map(documentKey));
}

interface Row {
  readonly organisatiecode: string;
  readonly bronidentificatie: string;
  readonly nummer: number;
  readonly gewijzigd: Date;
  readonly loc: string | null;
  readonly categorie: number | null;
  readonly titel: string;
  readonly creatiedatum: string | null;
  readonly formaat: string | null;
  readonly ontvangen: string | null;
  readonly reden: Document['reden'] | null;
  readonly pagina: number | null;
  readonly plaats: number | null;
}

/** These documents, and all that have their addresses or those given. */
async function readWithAddresses(
  db: Db,
  documents: readonly Resource[],
  addresses: readonly string[],
): Promise<Map<string, Document>> {
  const { rows } = await db.query<Row>({
    name: 'raadsfeed-diwoo-lees',
    text: `with eigen as materialized (
             select s.organisatiecode, s.bronidentificatie, s.loc
               from unnest($1::text[], $2::text[]) as g (o, b)
               join diwoo.documents s on s.organisatiecode = g.o and s.bronidentificatie = g.b),
           sleutel as (
             select organisatiecode, bronidentificatie from eigen
             union
             select s.organisatiecode, s.bronidentificatie
               from (select loc from eigen where loc is not null union select * from unnest($3::text[])) as l (loc)
               join diwoo.documents s on s.loc = l.loc)
           select s.organisatiecode, s.bronidentificatie, s.nummer, s.gewijzigd, s.loc, s.categorie, s.titel,
                  s.creatiedatum::text, s.formaat, s.ontvangen::text, s.reden, s.pagina, s.plaats
             from sleutel k join diwoo.documents s using (organisatiecode, bronidentificatie)`,
    values: [...keysOf(documents), addresses],
  });
  return new Map(rows.map((row) => [documentKey(row), toDocument(row)]));
}

function toDocument({ pagina, plaats, ...row }: Row): Document {
  return {
    ...row,
    loc: row.loc ?? undefined,
    categorie: row.categorie ?? undefined,
    creatiedatum: row.creatiedatum ?? undefined,
    formaat: row.formaat ?? undefined,
    ontvangen: row.ontvangen ?? undefined,
    reden: row.reden ?? undefined,
    place: pagina === null || plaats === null ? undefined : { pagina, plaats },
  };
}

/** Gives each document the next place of its organisation and category. */
async function givePlaces(db: Db, documents: readonly Document[]): Promise<Document[]> {
  const groups = Map.groupBy(documents, ({ organisatiecode, categorie }) => `${organisatiecode} ${categorie}`);
  if (groups.size === 0) return [];
  const firsts = [...groups.values()].flatMap((group) =>
    group[0] === undefined ? [] : [{ ...group[0], size: group.length }],
  );
  const { rows } = await db.query<{ organisatiecode: string; categorie: number; volgende: number }>({
    name: 'raadsfeed-diwoo-reeks',
    text: `insert into diwoo.series as r (organisatiecode, categorie, volgende)
           select * from unnest($1::text[], $2::integer[], $3::integer[])
               on conflict (organisatiecode, categorie) do update set volgende = r.volgende + excluded.volgende
           returning organisatiecode, categorie, volgende`,
    values: [
      firsts.map(({ organisatiecode }) => organisatiecode),
      firsts.map(({ categorie }) => categorie ?? 0),
      firsts.map(({ size }) => size),
    ],
  });
  const next = new Map(
    rows.map(({ organisatiecode, categorie, volgende }) => [`${organisatiecode} ${categorie}`, volgende]),
  );
  return [...groups].flatMap(([key, group]) => {
    const first = (next.get(key) ?? 0) - group.length;
    return group.map((document, i) => ({ ...document, place: placeAt(first + i) }));
  });
}

function placeAt(plaats: number): Place {
  return { pagina: Math.floor(plaats / SITEMAP_PLACES) + 1, plaats };
}

async function remove(db: Db, documents: readonly Document[]): Promise<void> {
  if (documents.length === 0) return;
  await db.query({
    name: 'raadsfeed-diwoo-weg',
    text: `delete from diwoo.documents s using unnest($1::text[], $2::text[]) as g (o, b)
            where s.organisatiecode = g.o and s.bronidentificatie = g.b`,
    values: keysOf(documents),
  });
}

async function write(db: Db, documents: readonly Document[]): Promise<void> {
  if (documents.length === 0) return;
  // Those that give an address up go before those that take it: the database allows an address one place at any moment.
  await remove(db, documents);
  const text = (value: (document: Document) => string | undefined): (string | null)[] =>
    documents.map((document) => value(document) ?? null);
  await db.query({
    name: 'raadsfeed-diwoo-schrijf',
    text: `insert into diwoo.documents
             (organisatiecode, bronidentificatie, nummer, gewijzigd, loc, categorie, titel, creatiedatum, formaat, ontvangen, reden, pagina, plaats)
           select o, b, n, gewijzigd, loc, categorie, titel, creatiedatum::date, formaat, ontvangen::date, reden, pagina, plaats
             from unnest($1::text[], $2::text[], $3::bigint[], $4::timestamptz[], $5::text[], $6::integer[], $7::text[], $8::text[], $9::text[],
                         $10::text[], $11::text[], $12::integer[], $13::bigint[])
                  as g (o, b, n, gewijzigd, loc, categorie, titel, creatiedatum, formaat, ontvangen, reden, pagina, plaats)`,
    values: [
      ...keysOf(documents),
      documents.map(({ nummer }) => nummer),
      documents.map(({ gewijzigd }) => gewijzigd.toISOString()),
      text(({ loc }) => loc),
      documents.map(({ categorie }) => categorie ?? null),
      text(({ titel }) => titel),
      text(({ creatiedatum }) => creatiedatum),
      text(({ formaat }) => formaat),
      text(({ ontvangen }) => ontvangen),
      text(({ reden }) => reden),
      documents.map(({ place }) => place?.pagina ?? null),
      documents.map(({ place }) => place?.plaats ?? null),
    ],
  });
}

async function touch(db: Db, sitemaps: readonly TouchedSitemap[]): Promise<void> {
  if (sitemaps.length === 0) return;
  await db.query({
    name: 'raadsfeed-diwoo-sitemaps',
    text: `insert into diwoo.sitemap as s (organisatiecode, categorie, pagina, aantal, gewijzigd)
           select * from unnest($1::text[], $2::integer[], $3::integer[], $4::integer[], $5::timestamptz[])
               on conflict (categorie, organisatiecode, pagina) do update
              set aantal = s.aantal + excluded.aantal, gewijzigd = greatest(s.gewijzigd, excluded.gewijzigd), versie = s.versie + 1`,
    values: [
      sitemaps.map(({ organisatiecode }) => organisatiecode),
      sitemaps.map(({ categorie }) => categorie),
      sitemaps.map(({ pagina }) => pagina),
      sitemaps.map(({ delta }) => delta),
      sitemaps.map(({ gewijzigd }) => gewijzigd.toISOString()),
    ],
  });
}

function keysOf(resources: readonly Resource[]): [string[], string[]] {
  return [
    resources.map(({ organisatiecode }) => organisatiecode),
    resources.map(({ bronidentificatie }) => bronidentificatie),
  ];
}

/**
 * Removes documents, items and references whose resource is not there any more, or whose record is another one: a bounded part of them.
 * @returns whether all of them are gone
 */
export async function dropStrays(db: Db): Promise<boolean> {
  const documents = await db.query<{ removed: number }>(
    `with weg as (
       delete from diwoo.documents
        where ctid = any (array(
              select s.ctid from diwoo.documents s
               where not exists (select from raadsfeed.current_records t
                                  where t.organisatiecode = s.organisatiecode and t.resource_type = 'Informatieobject'
                                    and t.bronidentificatie = s.bronidentificatie and t.sequence_number = s.nummer)
               limit ${MOST_REMOVED}))
       returning organisatiecode, categorie, pagina, plaats), bladen as (
     update diwoo.sitemap m
        set aantal = m.aantal - w.aantal, gewijzigd = greatest(m.gewijzigd, now()), versie = m.versie + 1
       from (select organisatiecode, categorie, pagina, count(*)::integer as aantal from weg where plaats is not null group by 1, 2, 3) w
      where m.organisatiecode = w.organisatiecode and m.categorie = w.categorie and m.pagina = w.pagina)
     select count(*)::integer as removed from weg`,
  );
  const references = await db.query(
    `delete from diwoo.links
      where ctid = any (array(
            select v.ctid from diwoo.links v
             where not exists (select from diwoo.documents s where s.organisatiecode = v.organisatiecode and s.bronidentificatie = v.van)
             limit ${MOST_REMOVED}))`,
  );
  const items = await db.query(
    `delete from diwoo.agendapunt
      where ctid = any (array(
            select a.ctid from diwoo.agendapunt a
             where not exists (select from raadsfeed.current_records t
                                where t.organisatiecode = a.organisatiecode and t.resource_type = 'Agendapunt'
                                  and t.bronidentificatie = a.bronidentificatie)
             limit ${MOST_REMOVED}))`,
  );
  return [documents.rows[0]?.removed, references.rowCount, items.rowCount].every(
    (count) => (count ?? 0) < MOST_REMOVED,
  );
}
