import type { Db } from '../../kernel/database/transaction.ts';
import { moment } from '../domain/verwerkingsactie.ts';
import type { StoredVersie } from './stored-versie.ts';
import { SELECT_VERSIE, type VersieRow } from './versie-columns.ts';

/** A row as a version: moments as texts. */
export function fromRow(row: VersieRow): StoredVersie {
  return { ...row, tijdstip: moment(row.tijdstip), tijdstipRegistratie: moment(row.tijdstipRegistratie) };
}

/** One version of an action; undefined when there is none. */
export async function readVersie(db: Db, actieId: string, versie: number): Promise<StoredVersie | undefined> {
  const { rows } = await db.query<VersieRow>({
    name: 'verwerkingenlog-read-versie',
    text: `select ${SELECT_VERSIE}, v.objecten from verwerkingenlog.versies v where v.actie_id = $1::uuid and v.versie = $2::integer`,
    values: [actieId, versie],
  });
  return rows[0] === undefined ? undefined : fromRow(rows[0]);
}

/** The newest version of an action, unless the action is unknown or deleted. */
export async function readCurrent(db: Db, actieId: string): Promise<StoredVersie | undefined> {
  const { rows } = await db.query<VersieRow>({
    name: 'verwerkingenlog-read-current',
    text: `
      select ${SELECT_VERSIE}, v.objecten
      from verwerkingenlog.versies v where v.actie_id = $1::uuid order by v.versie desc limit 1`,
    values: [actieId],
  });
  const row = rows[0];
  return row === undefined || row.vervallen ? undefined : fromRow(row);
}

/** Which objects of a version are read: of a person, by the hashes of each key; one by its number; or all, when they are at most so many. */
export type WantedObjects =
  | { readonly hashes: readonly string[] }
  | { readonly number: number }
  | { readonly most: number };

/**
 * The newest version as `readCurrent` gives it, with the wanted objects alone: of an action about very many persons the others do not even
 * leave the database.
 * @returns with how many objects there are; when that is more than `most`, none are read
 */
export async function readCurrentPart(
  db: Db,
  actieId: string,
  wanted: WantedObjects,
): Promise<{ readonly stored: StoredVersie; readonly objects: number } | undefined> {
  const { rows } = await db.query<VersieRow & { aantal: number }>({
    name: 'verwerkingenlog-read-current-part',
    text: `
      select ${SELECT_VERSIE}, json_array_length(v.objecten) as aantal,
        case when $4::integer is null then coalesce((
            select json_agg(o.object order by o.plaats) from json_array_elements(v.objecten) with ordinality as o(object, plaats)
            where (o.object ->> 'sleutel')::uuid = any($2::uuid[]) or (o.object ->> 'nr')::integer = $3::integer), '[]')
          when json_array_length(v.objecten) <= $4::integer then v.objecten
          else '[]' end as objecten
      from verwerkingenlog.versies v where v.actie_id = $1::uuid order by v.versie desc limit 1`,
    values: [
      actieId,
      'hashes' in wanted ? wanted.hashes : null,
      'number' in wanted ? wanted.number : null,
      'most' in wanted ? wanted.most : null,
    ],
  });
  const [row] = rows;
  if (row === undefined || row.vervallen) return undefined;
  const { aantal, ...versie } = row;
  return { stored: fromRow(versie), objects: aantal };
}

/** What of the newest version decides how it can be changed; undefined when the action is unknown or deleted. */
export async function readStanding(
  db: Db,
  actieId: string,
): Promise<{ readonly verwerkingId: string | null; readonly objects: number } | undefined> {
  const { rows } = await db.query<{ verwerkingId: string | null; objects: number; vervallen: boolean }>({
    name: 'verwerkingenlog-read-standing',
    text: `
      select v.verwerking_id as "verwerkingId", json_array_length(v.objecten) as objects, v.vervallen
      from verwerkingenlog.versies v where v.actie_id = $1::uuid order by v.versie desc limit 1`,
    values: [actieId],
  });
  const [row] = rows;
  return row === undefined || row.vervallen ? undefined : { verwerkingId: row.verwerkingId, objects: row.objects };
}

/** Every version of an action, the first one first. */
export async function readHistory(db: Db, actieId: string): Promise<StoredVersie[]> {
  const { rows } = await db.query<VersieRow>(
    `select ${SELECT_VERSIE}, v.objecten from verwerkingenlog.versies v where v.actie_id = $1::uuid order by v.versie`,
    [actieId],
  );
  return rows.map(fromRow);
}
