/** Finding actions for the LDV face: by trace and by activity. */
import type { Db } from '../../../database/transaction.ts';

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
