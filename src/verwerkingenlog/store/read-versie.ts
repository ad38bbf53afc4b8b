import type { Db } from '../../kernel/database/db.ts';
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

/** Every version of an action, the first one first. */
export async function readHistory(db: Db, actieId: string): Promise<StoredVersie[]> {
  const { rows } = await db.query<VersieRow>(
    `select ${SELECT_VERSIE}, v.objecten from verwerkingenlog.versies v where v.actie_id = $1::uuid order by v.versie`,
    [actieId],
  );
  return rows.map(fromRow);
}
