import type { Db } from '../../../database/transaction.ts';
import type { SourceOrganisation } from '../../../lib/feed/service-document.ts';
import { columns } from '../../store/state.ts';
import type { Source } from '../source.ts';

export interface OwnedOrganisation {
  readonly organisatiecode: string;
  readonly naam: string;
  readonly isPresent: boolean;
  readonly sourceUpdatedAt: Date | null;
  readonly withheld: number;
}

export async function readOwnedOrganisations(db: Db, sourceId: number): Promise<OwnedOrganisation[]> {
  const { rows } = await db.query<OwnedOrganisation>({
    name: 'aggregator-owned',
    text: `select organisatiecode, name as naam, is_present as "isPresent", source_updated_at as "sourceUpdatedAt", withheld
             from aggregator.source_organisations
            where source_id = $1::integer
            order by organisatiecode`,
    values: [sourceId],
  });
  return rows;
}

type Elsewhere = { readonly organisatiecode: string } & { readonly [K in 'adres' | 'soort']: Source[K] | null };

/**
 * Stores the organisations that the document of a source names. Those without a source are taken from this one; nothing is published of those it no
 * longer names.
 * @returns `added`: new or returned, so their state has to be read; `elsewhere`: not taken, with the source that has them (`null`: this feed itself)
 */
export async function saveOfferedOrganisations(db: Db, sourceId: number, offered: readonly SourceOrganisation[]) {
  const codes = offered.map(({ organisatiecode }) => organisatiecode);
  const before = await readOwnedOrganisations(db, sourceId);
  await db.query(
    `insert into aggregator.source_organisations as o (organisatiecode, source_id, name, source_updated_at)
     select distinct on (a.organisatiecode) a.organisatiecode, $1::integer, a.name, a.updated_at
       from unnest($2::text[], $3::text[], $4::timestamptz[]) as a (organisatiecode, name, updated_at)
      where not exists (select from raadsfeed.organisaties e
                         where e.organisatiecode = a.organisatiecode and e.herkomst_soort = 'eigen')
      order by a.organisatiecode
         on conflict (organisatiecode) do update
        set name = excluded.name, source_updated_at = excluded.source_updated_at, is_present = true
      where o.source_id = excluded.source_id`,
    [sourceId, ...columns(offered, 'organisatiecode', 'naam', 'laatstBijgewerkt')],
  );
  await db.query(
    `update aggregator.source_organisations set is_present = false
      where source_id = $1::integer and is_present and organisatiecode <> all ($2::text[])`,
    [sourceId, codes],
  );
  const { rows: elsewhere } = await db.query<Elsewhere>(
    `select a.organisatiecode, b.address as adres, b.kind as soort
       from unnest($2::text[]) as a (organisatiecode)
       left join aggregator.source_organisations o using (organisatiecode)
       left join aggregator.sources b on b.id = o.source_id
      where o.source_id is distinct from $1::integer`,
    [sourceId, codes],
  );
  const presentIn = (organisations: readonly OwnedOrganisation[]): string[] =>
    organisations.filter(({ isPresent }) => isPresent).map(({ organisatiecode }) => organisatiecode);
  const had = presentIn(before);
  const present = presentIn(await readOwnedOrganisations(db, sourceId));
  return { added: present.filter((code) => !had.includes(code)), elsewhere };
}

/** Moves an organisation to this source when the Dutch day is in its period, not in that of its present supplier. @returns whether it is here now */
export async function claimOrganisation(
  db: Db,
  sourceId: number,
  { organisatiecode, naam }: { readonly organisatiecode: string; readonly naam: string },
  today: string,
): Promise<boolean> {
  const { rows } = await db.query<{ owns: boolean }>(
    `with moved as (
       update aggregator.source_organisations o
          set source_id = n.id, name = $3::text, is_present = true, source_updated_at = null, withheld = 0
         from aggregator.sources n, aggregator.sources b
        where n.id = $1::integer and o.organisatiecode = $2::text and b.id = o.source_id and b.id <> n.id
          and b.kind = 'leveranciers-api'
          and $4::date between coalesce(n.first_day, '-infinity') and coalesce(n.last_day, 'infinity')
          and $4::date not between coalesce(b.first_day, '-infinity') and coalesce(b.last_day, 'infinity')
       returning 1)
     select exists (select from moved) or exists (
              select from aggregator.source_organisations where organisatiecode = $2::text and source_id = $1::integer) as owns`,
    [sourceId, organisatiecode, naam, today],
  );
  return rows[0]?.owns ?? false;
}

/** As `saveOrigin`, for an organisation that the service document does not show yet. */
export async function saveFirstOrigin(db: Db, organisatiecode: string, naam: string): Promise<void> {
  await db.query(
    `insert into raadsfeed.organisaties (organisatiecode, naam, herkomst_soort)
     values ($1::text, $2::text, 'leveranciers-api') on conflict (organisatiecode) do nothing`,
    [organisatiecode, naam],
  );
}

/** Sets the origins that the service document shows. @param feedUrl `null`: the API of a supplier */
export async function saveOrigin(
  db: Db,
  organisations: readonly { readonly organisatiecode: string; readonly naam: string }[],
  feedUrl: string | null,
): Promise<void> {
  await db.query(
    `insert into raadsfeed.organisaties as o (organisatiecode, naam, herkomst, herkomst_soort)
     select organisatiecode, naam, $3::text, $4::text
       from unnest($1::text[], $2::text[]) as n (organisatiecode, naam)
      order by organisatiecode
         on conflict (organisatiecode) do update
        set naam = excluded.naam, herkomst = excluded.herkomst, herkomst_soort = excluded.herkomst_soort
      where (o.naam, o.herkomst, o.herkomst_soort) is distinct from (excluded.naam, excluded.herkomst, excluded.herkomst_soort)`,
    [...columns(organisations, 'organisatiecode', 'naam'), feedUrl, feedUrl === null ? 'leveranciers-api' : 'feed'],
  );
}

/** Sets `laatstBijgewerkt`; it never goes back. */
export async function updateLastModified(
  db: Db,
  organisations: readonly { readonly organisatiecode: string; readonly at: Date }[],
): Promise<void> {
  await db.query(
    `update raadsfeed.organisaties o set laatst_bijgewerkt = greatest(o.laatst_bijgewerkt, n.moment)
       from unnest($1::text[], $2::timestamptz[]) as n (organisatiecode, moment)
      where o.organisatiecode = n.organisatiecode`,
    columns(organisations, 'organisatiecode', 'at'),
  );
}
