import type { Db } from '../../kernel/database/transaction.ts';
import { type Appended, appendVersies } from './append-versies.ts';
import { preferIndexes } from './prefer-indexes.ts';
import { placesByPerson, type StoredVersie } from './stored-versie.ts';

/** Adds a version on top of the current one, and keeps where persons are found in step. Hold the locks of the action. */
export async function replaceVersie(
  db: Db,
  current: StoredVersie,
  next: StoredVersie,
  { refuseUnknownActivity }: { readonly refuseUnknownActivity: boolean },
): Promise<Appended> {
  await removePlaces(db, current);
  const [appended] = await appendVersies(db, [{ versie: next, refuseUnknownActivity }]);
  if (appended === undefined) throw new TypeError('nothing was appended');
  return appended;
}

/** Takes a version's persons out of the index. */
export async function removePlaces(db: Db, versie: StoredVersie): Promise<void> {
  await preferIndexes(db);
  await db.query(
    `delete from verwerkingenlog.vindplaatsen p using unnest($1::uuid[]) as s(sleutel)
     where p.sleutel = s.sleutel and p.tijdstip = $2::timestamptz and p.actie_id = $3::uuid`,
    [[...placesByPerson(versie).keys()], versie.tijdstip, versie.actieId],
  );
}

/** The highest number that any version of an action has given to an object; 0 when none has. */
export async function lastObjectNumber(db: Db, actieId: string): Promise<number> {
  const { rows } = await db.query<{ last: number }>(
    `select coalesce(max((o.object ->> 'nr')::integer), 0) as last
     from verwerkingenlog.versies v, json_array_elements(v.objecten) as o(object) where v.actie_id = $1::uuid`,
    [actieId],
  );
  return rows[0]?.last ?? 0;
}
