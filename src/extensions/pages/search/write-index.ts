/** Writes entries into the index, a batch in a fixed number of statements. */
import type { Db } from '../../../database/transaction.ts';
import type { FeedChange } from '../../../raadsfeed/store/follow-index.ts';
import type { Entry } from './entry.ts';

/** A change of the index: what a resource has become, or that it is gone. */
interface IndexChange extends Omit<FeedChange, 'data'> {
  /** Absent: the resource is gone. */
  readonly entry: Entry | undefined;
}

/** Applies changes, at most one of each resource. */
export async function writeIndex(db: Db, latest: readonly IndexChange[]): Promise<void> {
  if (latest.length === 0) return;
  const keys = keysOf(latest);
  await db.query({
    name: 'raadsfeed-zoek-wis',
    text: `with weg as (
             delete from pages.links v using unnest($1::text[], $2::text[], $3::text[]) as g (o, t, b)
              where v.organisatiecode = g.o and v.van_type = g.t and v.van = g.b)
           delete from pages.items s using unnest($1::text[], $2::text[], $3::text[], $4::boolean[]) as g (o, t, b, gone)
            where s.organisatiecode = g.o and s.resource_type = g.t and s.bronidentificatie = g.b and g.gone`,
    values: [...keys, latest.map(({ entry }) => entry === undefined)],
  });
  const present = latest.flatMap(({ entry, ...change }) => (entry === undefined ? [] : [{ ...change, entry }]));
  if (present.length === 0) return;
  await writeEntries(db, present);
  await writeReferences(db, present);
  await fillInMeetings(db, keysOf(present));
}

type Present = Omit<IndexChange, 'entry'> & { readonly entry: Entry };

/** The words of a row, from its texts `a`, `w` and `x` by weight: as the Dutch configuration has them, and beside it as they are. */
export const WORDS = [
  ['a', 'A'],
  ['w', 'B'],
  ['x', 'D'],
]
  .flatMap(([text, weight]) =>
    ['dutch', 'simple'].map((configuration) => `setweight(to_tsvector('${configuration}', ${text}), '${weight}')`),
  )
  .join(' || ');

async function writeEntries(db: Db, present: readonly Present[]): Promise<void> {
  const column = (value: (entry: Entry) => string | undefined): (string | null)[] =>
    present.map(({ entry }) => value(entry) ?? null);
  await db.query({
    name: 'raadsfeed-zoek-schrijf',
    text: `insert into pages.items as s
             (nummer, organisatiecode, resource_type, bronidentificatie, stored_at, titel, datum, soort, vergadering, gremium, gremiumnaam, kort, woorden)
           select n, o, t, b, stored_at, titel, datum, soort, vergadering, gremium, gremiumnaam, kort::jsonb, ${WORDS}
             from unnest($1::text[], $2::text[], $3::text[], $4::bigint[], $5::timestamptz[], $6::text[], $7::timestamptz[], $8::text[],
                         $9::text[], $10::text[], $11::text[], $12::text[], $13::text[], $14::text[], $15::text[])
                  as g (o, t, b, n, stored_at, titel, datum, soort, vergadering, gremium, gremiumnaam, kort, a, w, x)
           on conflict (organisatiecode, resource_type, bronidentificatie) do update
             set nummer = excluded.nummer, stored_at = excluded.stored_at, titel = excluded.titel, datum = excluded.datum,
                 soort = excluded.soort, vergadering = excluded.vergadering, gremium = excluded.gremium,
                 gremiumnaam = excluded.gremiumnaam, kort = excluded.kort, woorden = excluded.woorden
           where s.nummer <= excluded.nummer`,
    values: [
      ...keysOf(present),
      present.map(({ sequenceNumber }) => sequenceNumber),
      present.map(({ storedAt }) => storedAt.toISOString()),
      column(({ titel }) => titel),
      present.map(({ entry }) => entry.datum ?? null),
      column(({ soort }) => soort),
      column(({ vergadering }) => vergadering),
      column(({ gremium }) => gremium),
      column(({ gremiumnaam }) => gremiumnaam),
      column(({ kort }) => JSON.stringify(kort)),
      ...[0, 1, 2].map((i) => column(({ words }) => words[i])),
    ],
  });
}

async function writeReferences(db: Db, present: readonly Present[]): Promise<void> {
  const rows = present.flatMap(({ resource, resourceType, entry }) =>
    entry.references.map((to) => ({ from: { resource, resourceType }, to })),
  );
  if (rows.length === 0) return;
  await db.query({
    name: 'raadsfeed-zoek-verwijs',
    text: `insert into pages.links (organisatiecode, van_type, van, naar_organisatie, naar_type, naar, rol)
           select * from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[])
           on conflict do nothing`,
    values: [
      ...keysOf(rows.map(({ from }) => from)),
      rows.map(({ to }) => to.organisatiecode),
      rows.map(({ to }) => to.resourceType),
      rows.map(({ to }) => to.bronidentificatie),
      rows.map(({ to }) => to.rol),
    ],
  });
}

/**
 * Gives documents the meeting of their item, and items and documents the body and the day of their meeting, in whatever order the feed has
 * them: what is in the batch looks up, and what refers to something in the batch is looked up.
 */
async function fillInMeetings(db: Db, keys: readonly string[][]): Promise<void> {
  await db.query({
    name: 'raadsfeed-zoek-agendapunt',
    text: `with g as materialized (select * from unnest($1::text[], $2::text[], $3::text[]) as g (o, t, b)),
                paren as (
                  select v.organisatiecode, v.van, v.naar from g
                    join pages.links v on g.t = 'Informatieobject' and v.organisatiecode = g.o and v.van_type = g.t and v.van = g.b
                   where v.naar_type = 'Agendapunt' and v.naar_organisatie = v.organisatiecode
                  union
                  select v.organisatiecode, v.van, v.naar from g
                    join pages.links v on g.t = 'Agendapunt' and v.naar_organisatie = g.o and v.naar_type = g.t and v.naar = g.b
                   where v.van_type = 'Informatieobject' and v.naar_organisatie = v.organisatiecode)
           update pages.items d set vergadering = a.vergadering
             from paren p
             join pages.items a on a.organisatiecode = p.organisatiecode and a.resource_type = 'Agendapunt' and a.bronidentificatie = p.naar
            where d.organisatiecode = p.organisatiecode and d.resource_type = 'Informatieobject' and d.bronidentificatie = p.van
              and d.vergadering is null and a.vergadering is not null`,
    values: [...keys],
  });
  await db.query({
    name: 'raadsfeed-zoek-gremium',
    text: `with g as materialized (select * from unnest($1::text[], $2::text[], $3::text[]) as g (o, t, b)),
                -- The documents of items in the batch may just have got their meeting.
                raakt as (
                  select s.nummer from g join pages.items s on s.organisatiecode = g.o and s.resource_type = g.t and s.bronidentificatie = g.b
                   where g.t <> 'Vergadering'
                  union
                  select s.nummer from g join pages.items s on g.t = 'Vergadering' and s.organisatiecode = g.o and s.vergadering = g.b
                  union
                  select s.nummer from g
                    join pages.links v on g.t = 'Agendapunt' and v.naar_organisatie = g.o and v.naar_type = g.t and v.naar = g.b
                    join pages.items s on s.organisatiecode = v.organisatiecode and s.resource_type = v.van_type and s.bronidentificatie = v.van)
           update pages.items s
              set gremium = n.gremium, gremiumnaam = n.gremiumnaam, datum = n.datum
             from (select s.nummer, m.gremium, m.gremiumnaam,
                          case when s.resource_type = 'Agendapunt' and not (s.kort ?| array['starttijd', 'geplandestarttijd'])
                               then m.datum else s.datum end as datum
                     from raakt r
                     join pages.items s on s.nummer = r.nummer
                     join pages.items m
                       on m.organisatiecode = s.organisatiecode and m.resource_type = 'Vergadering' and m.bronidentificatie = s.vergadering) n
            where s.nummer = n.nummer
              and (s.gremium, s.gremiumnaam, s.datum) is distinct from (n.gremium, n.gremiumnaam, n.datum)`,
    values: [...keys],
  });
}

function keysOf(changes: readonly Pick<IndexChange, 'resource' | 'resourceType'>[]): [string[], string[], string[]] {
  return [
    changes.map(({ resource }) => resource.organisatiecode),
    changes.map(({ resourceType }) => resourceType),
    changes.map(({ resource }) => resource.bronidentificatie),
  ];
}
