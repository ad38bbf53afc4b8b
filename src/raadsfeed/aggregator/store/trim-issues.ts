import type { Db } from '../../../kernel/database/transaction.ts';

/** Issues of one source that are kept: those that last go before those that are over, the newest before the others. */
export const MAX_ISSUES = 1000;
/** Days after which an issue that is over is dropped. */
const KEPT_DAYS = 90;

/** Drops the issues of a source that there is no room for, and counts them. Follows whatever adds issues, in its transaction. */
export async function trimIssues(db: Db, sourceId: number, at: Date): Promise<void> {
  await db.query({
    name: 'aggregator-trim-issues',
    text: `with op_volgorde as (
             select ctid, row_number() over (order by (opgelost is null) desc, laatst desc, wat, waar) as plaats,
                    opgelost < $2::timestamptz - make_interval(days => $3::integer) as oud
               from aggregator.melding where bron_id = $1::integer
           ), weg as (
             delete from aggregator.melding
              where ctid = any (array(select ctid from op_volgorde where plaats > $4::integer or oud))
          returning 1
           )
           update aggregator.bron set meldingen_weggelaten = meldingen_weggelaten + (select count(*) from weg)
            where id = $1::integer and exists (select from weg)`,
    values: [sourceId, at.toISOString(), KEPT_DAYS, MAX_ISSUES],
  });
}
