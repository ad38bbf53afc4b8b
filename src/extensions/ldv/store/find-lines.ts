/** Finding current actions for the LDV face: by trace, by activity, and what of them is read. */
import type { Db } from '../../../database/transaction.ts';
import { fromRow, SELECT_VERSIE, type StoredVersie, type VersieRow } from '../../../verwerkingenlog/store/versions.ts';

/** The newest actions of a trace: of a processing, or own entries about calls in it. */
export async function findByTrace(db: Db, traceId: string, limit: number): Promise<string[]> {
  const { rows } = await db.query<{ actieId: string }>({
    name: 'verwerkingenlog-lines-trace',
    text: `select distinct actie_id as "actieId" from verwerkingenlog.versies
      where verwerking_id = $1::uuid or trace_id = $1::uuid order by actie_id desc limit $2::integer`,
    values: [traceId, limit],
  });
  return rows.map(({ actieId }) => actieId);
}

/**
 * The newest actions of an activity. There is no index for it, which every append would pay for: this reads the log from its end, as far
 * as is needed and as long as a statement may take.
 */
export async function findByActivity(
  db: Db,
  { id, url, begin, eind }: { id: string | null; url: string; begin?: string | undefined; eind?: string | undefined },
  limit: number,
): Promise<string[]> {
  const { rows } = await db.query<{ actieId: string }>({
    name: 'verwerkingenlog-lines-activity',
    text: `select distinct actie_id as "actieId" from verwerkingenlog.versies
      where (verwerkingsactiviteit_id = $1::uuid or verwerkingsactiviteit_url = $2::text)
        and tijdstip >= $3::timestamptz and tijdstip < $4::timestamptz
      order by actie_id desc limit $5::integer`,
    values: [id, url, begin ?? '-infinity', eind ?? 'infinity', limit],
  });
  return rows.map(({ actieId }) => actieId);
}

/** A current version with the objects that were wanted, and how many it has. */
export interface PartOfVersie {
  readonly stored: StoredVersie;
  readonly objects: number;
}

/**
 * The current versions of actions that are not deleted, in the order asked.
 * @param hashes of a person: only the objects of that person; absent: the first `most` of each
 */
export async function readCurrentParts(
  db: Db,
  acties: readonly string[],
  { hashes, most }: { readonly hashes?: readonly string[] | undefined; readonly most: number },
): Promise<PartOfVersie[]> {
  const { rows } = await db.query<VersieRow & { aantal: number }>({
    name: 'verwerkingenlog-lines-read',
    text: `
      select ${SELECT_VERSIE}, json_array_length(v.objecten) as aantal,
        case when $2::uuid[] is null and json_array_length(v.objecten) <= $3::integer then v.objecten
          else coalesce((select json_agg(o.object order by o.plaats) from (
            select * from json_array_elements(v.objecten) with ordinality as e(object, plaats)
            where $2::uuid[] is null or (e.object ->> 'sleutel')::uuid = any($2::uuid[]) order by plaats limit $3::integer
          ) o), '[]') end as objecten
      from verwerkingenlog.versies v
      where v.actie_id = any($1::uuid[]) and not v.vervallen
        and v.versie = (select max(w.versie) from verwerkingenlog.versies w where w.actie_id = v.actie_id)`,
    values: [acties, hashes === undefined ? null : hashes, most],
  });
  const parts = new Map(rows.map(({ aantal, ...row }) => [row.actieId, { stored: fromRow(row), objects: aantal }]));
  return acties.flatMap((actieId) => parts.get(actieId) ?? []);
}
