import type { Db } from '../../database/transaction.ts';
import { moment } from '../../lib/time.ts';
import type { StoredVersie } from '../domain/encryption.ts';
import { MEMBER_NAMES, MEMBERS } from '../domain/members.ts';

/** Without `objecten`, which is sometimes read in part. */
export const VERSIE_COLUMNS: readonly (readonly [column: string, type: string, member: string])[] = [
  ...MEMBER_NAMES.map((name) => [MEMBERS[name].column, MEMBERS[name].type, name] as const),
  ['key_name', 'text', 'keyName'],
  ['seed', 'text', 'seed'],
];

export const VERSIE_NAMES = VERSIE_COLUMNS.map(([column]) => column).join(', ');

export interface VersieRow extends Omit<StoredVersie, 'tijdstip' | 'tijdstipRegistratie'> {
  readonly tijdstip: Date;
  readonly tijdstipRegistratie: Date;
}

export const SELECT_VERSIE = [...VERSIE_COLUMNS, ['proof_number', 'bigint', 'bewijsNr'] as const]
  .map(([column, , member]) => `v.${column} as "${member}"`)
  .join(', ');

export function fromRow(row: VersieRow): StoredVersie {
  return { ...row, tijdstip: moment(row.tijdstip), tijdstipRegistratie: moment(row.tijdstipRegistratie) };
}

/** Whole versions. @param clauses follow `from verwerkingenlog.versies v` */
export async function queryVersies(
  db: Db,
  clauses: string,
  statement: { readonly name?: string; readonly values: unknown[] },
): Promise<StoredVersie[]> {
  const text = `select ${SELECT_VERSIE}, v.objecten from verwerkingenlog.versies v ${clauses}`;
  const { rows } = await db.query<VersieRow>({ ...statement, text });
  return rows.map(fromRow);
}

export async function readVersie(db: Db, actieId: string, versie: number): Promise<StoredVersie | undefined> {
  const statement = { name: 'verwerkingenlog-read-versie', values: [actieId, versie] };
  return (await queryVersies(db, 'where v.actie_id = $1::uuid and v.versie = $2::integer', statement))[0];
}

/** Undefined when the action is unknown or deleted. */
export async function readCurrent(db: Db, actieId: string): Promise<StoredVersie | undefined> {
  const last = await readLast(db, actieId);
  return last?.vervallen === true ? undefined : last;
}

export async function readLast(db: Db, actieId: string): Promise<StoredVersie | undefined> {
  const statement = { name: 'verwerkingenlog-read-last', values: [actieId] };
  return (await queryVersies(db, 'where v.actie_id = $1::uuid order by v.versie desc limit 1', statement))[0];
}

export function readHistory(db: Db, actieId: string): Promise<StoredVersie[]> {
  return queryVersies(db, 'where v.actie_id = $1::uuid order by v.versie', { values: [actieId] });
}

/** In the order of their identity. @param except a log key: versions that have it are left out */
export async function* versionsOfMonth(
  db: Db,
  { from, to }: { readonly from: string; readonly to: string },
  batch: number,
  except?: string,
): AsyncGenerator<StoredVersie[]> {
  for (let after: readonly [string, number] = [from, 0]; ; ) {
    const versions = await queryVersies(
      db,
      `where (v.actie_id, v.versie) > ($1::uuid, $2::integer) and v.actie_id < $3::uuid
         and ($4::text is null or v.key_name <> $4::text)
       order by v.actie_id, v.versie limit $5::integer`,
      { values: [...after, to, except ?? null, batch] },
    );
    const last = versions.at(-1);
    if (last === undefined) return;
    after = [last.actieId, last.versie];
    yield versions;
  }
}

/** Those of a person, by the hashes of each key; one by its number; or by default the first ones. */
interface WantedObjects {
  readonly hashes?: readonly string[] | undefined;
  readonly number?: number;
  readonly most?: number;
}

export interface PartOfVersie {
  readonly stored: StoredVersie;
  readonly objects: number;
}

/** The current versions of actions that are not deleted, in the order requested. Other objects, which may be very many, do not leave the database. */
export async function readCurrentParts(
  db: Db,
  acties: readonly string[],
  { hashes, number, most }: WantedObjects,
): Promise<PartOfVersie[]> {
  const { rows } = await db.query<VersieRow & { aantal: number }>({
    name: 'verwerkingenlog-read-current-parts',
    text: `
      with latest as materialized (
        -- Computed once, not for each version of an action that has very many.
        select actie_id, max(versie) as versie from verwerkingenlog.versies where actie_id = any($1::uuid[]) group by actie_id
      )
      select ${SELECT_VERSIE}, json_array_length(v.objecten) as aantal,
        case when $2::uuid[] is null and $3::integer is null and json_array_length(v.objecten) <= $4::integer then v.objecten
          else coalesce((select json_agg(o.object order by o.place) from (
            select * from json_array_elements(v.objecten) with ordinality as e(object, place)
            where ($2::uuid[] is null or (e.object ->> 'sleutel')::uuid = any($2::uuid[]))
              and ($3::integer is null or (e.object ->> 'nr')::integer = $3::integer) order by place limit $4::integer
          ) o), '[]') end as objecten
      from verwerkingenlog.versies v join latest l on l.actie_id = v.actie_id and l.versie = v.versie
      where v.actie_id = any($1::uuid[]) and not v.vervallen`,
    values: [acties, hashes ?? null, number ?? null, most ?? null],
  });
  const parts = new Map(rows.map(({ aantal, ...row }) => [row.actieId, { stored: fromRow(row), objects: aantal }]));
  return acties.flatMap((actieId) => parts.get(actieId.toLowerCase()) ?? []);
}
