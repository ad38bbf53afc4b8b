import type { Db } from '../../../kernel/database/transaction.ts';
import type { SourceCompleteness } from '../../../raadsfeed/store/state.ts';

/** How complete the data of an organisation is, as far as its source lets us know; undefined for an organisation that has no source here. */
export async function readCompletenessOf(db: Db, organisatiecode: string): Promise<SourceCompleteness | undefined> {
  const { rows } = await db.query<SourceCompleteness>({
    name: 'aggregator-completeness-of',
    text: `select b.bijgewerkt as "readAt",
                  case when b.laatste_nummer is null then null else greatest(b.head - b.laatste_nummer, 0) end as behind,
                  (select count(*) from aggregator.geweigerd w where w.bron_id = b.id) as refused,
                  (select case when sum(getoond) = 0 then 100
                          else floor(sum(aanwezig)::double precision / sum(getoond) * 1000) / 10 end
                     from aggregator.dekking d where d.bron_id = b.id having count(*) > 0) as coverage,
                  case when b.mislukt > 0 then b.fout_sinds end as "failingSince"
             from aggregator.bron_organisatie o
             join aggregator.bron b on b.id = o.bron_id
            where o.organisatiecode = $1::text`,
    values: [organisatiecode],
  });
  return rows[0];
}
