import type { Db } from '../../kernel/database/transaction.ts';
import { type Categorie, categorieVan } from '../domain/access.ts';
import type { Auteur, Vertrouwelijkheid } from '../domain/verwerkingsactie.ts';
import { preferIndexes } from './prefer-indexes.ts';
import { VERSIE_COLUMNS, VERSIE_NAMES } from './versie-columns.ts';

/** The current versions of a processing's actions that are not deleted: `$1` is the processing. */
const CURRENT = `
  with kandidaat as materialized (
    select distinct actie_id from verwerkingenlog.versies where verwerking_id = $1::uuid
  ), laatste as (
    -- One by one by the primary key: joined, all of the log would be read.
    select v.* from kandidaat k cross join lateral (
      select * from verwerkingenlog.versies where actie_id = k.actie_id order by versie desc limit 1
    ) as v
  ), huidig as materialized (
    select * from laatste where verwerking_id = $1::uuid and not vervallen
  )`;

/** The categories of the actions of a processing; empty when it is unknown or all of it was deleted. */
export async function readCategorieen(db: Db, verwerkingId: string): Promise<Categorie[]> {
  const { rows } = await db.query<CategorieRow>(
    `${CURRENT} select distinct verwerkingenlog.categorie(vertrouwelijkheid, ooit_vertrouwelijk) as categorie from huidig`,
    [verwerkingId],
  );
  return categorieen(rows);
}

interface CategorieRow {
  readonly categorie: number;
}

function categorieen(rows: readonly CategorieRow[]): Categorie[] {
  return rows.map(({ categorie }) => categorieVan(categorie));
}

export interface VerwerkingChange {
  readonly vertrouwelijkheid?: Vertrouwelijkheid | undefined;
  readonly bewaartermijn?: string | undefined;
}

/** What a column of the new versions is; every other is what it was. */
const CHANGED: Readonly<Record<string, string>> = {
  versie: 'versie + 1',
  tijdstip_registratie: '$2::timestamptz',
  door: '$3::text',
  verzoek_id: '$4::text',
  vertrouwelijkheid: 'coalesce($5::text, vertrouwelijkheid)',
  ooit_vertrouwelijk: `ooit_vertrouwelijk or coalesce($5::text, 'normaal') <> 'normaal'`,
  bewaartermijn: 'coalesce($6::text, bewaartermijn)',
};

const PATCH = `${CURRENT}, nieuw as (
    insert into verwerkingenlog.versies (${VERSIE_NAMES}, objecten, vervalt_op)
    select ${VERSIE_COLUMNS.map(([column]) => CHANGED[column] ?? column).join(', ')}, objecten,
      verwerkingenlog.vervalt_op(tijdstip, coalesce($6::text, bewaartermijn))
    from huidig
    returning actie_id, versie, tijdstip, objecten,
      verwerkingenlog.categorie(vertrouwelijkheid, ooit_vertrouwelijk) as categorie
  ), personen as materialized (
    -- Apart, so that the list of an action is read once and not once for each of its persons.
    select distinct n.actie_id, n.versie, n.tijdstip, n.categorie, (o.object ->> 'sleutel')::uuid as sleutel
    from nieuw n, json_array_elements(n.objecten) as o(object)
  ), plaatsen as (
    update verwerkingenlog.vindplaatsen p set versie = n.versie, categorie = n.categorie
    from personen n where p.sleutel = n.sleutel and p.tijdstip = n.tijdstip and p.actie_id = n.actie_id
  )
  select distinct verwerkingenlog.categorie(vertrouwelijkheid, ooit_vertrouwelijk) as categorie from huidig`;

/**
 * Gives every current action of a processing a new version. Hold the lock of the processing.
 * @returns the categories that the changed actions had: one may have come since they were read
 */
export async function patchVerwerking(
  db: Db,
  verwerkingId: string,
  change: VerwerkingChange,
  now: Date,
  { door, verzoekId }: Auteur,
): Promise<Categorie[]> {
  await preferIndexes(db);
  const { rows } = await db.query<CategorieRow>(PATCH, [
    verwerkingId,
    now,
    door,
    verzoekId,
    change.vertrouwelijkheid ?? null,
    change.bewaartermijn ?? null,
  ]);
  return categorieen(rows);
}
