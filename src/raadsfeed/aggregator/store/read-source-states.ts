import type { Db } from '../../../kernel/database/transaction.ts';

/** How a source stands, for lists and metrics. */
export interface SourceState {
  readonly id: number;
  readonly adres: string;
  readonly soort: 'feed' | 'leveranciers-api';
  readonly toestand: 'actief' | 'gepauzeerd';
  readonly fase: 'stand' | 'historie' | 'feed';
  /** All that it has is taken from elsewhere. */
  readonly nietsTeLezen: boolean;
  /** Resources whose last record was refused: while there are any, it is not up to date. */
  readonly openGeweigerd: number;
  readonly organisaties: readonly string[];
  /** When it was last read to its end. */
  readonly bijgewerkt: Date | null;
  /** Seconds since then, or since it was added. */
  readonly lagSeconds: number;
  /** Records that were not yet read; `null` when nothing says how many. */
  readonly behind: number | null;
  readonly gelezen: number;
  readonly gepubliceerd: number;
  readonly geweigerd: number;
  readonly mislukt: number;
  readonly fout: string | null;
  readonly foutSoort: string | null;
  readonly foutSinds: Date | null;
  /** Deletes that wait for an operator's word. */
  readonly achtergehouden: number;
  /** Issues that last. */
  readonly meldingen: number;
  /** Issues that were dropped since it was added, to keep room for newer ones. */
  readonly meldingenWeggelaten: number;
  /** Percentage by the last measurement, rounded down to a tenth. */
  readonly dekking: number | null;
  readonly volgende: Date;
}

/** Every source, in the order in which they were added. */
export async function readSourceStates(db: Db): Promise<SourceState[]> {
  const { rows } = await db.query<SourceState>({
    name: 'aggregator-source-states',
    text: `select b.id, b.adres, b.soort, b.toestand, b.fase, b.niets_te_lezen as "nietsTeLezen", b.bijgewerkt,
                  (select count(*) from aggregator.geweigerd w where w.bron_id = b.id) as "openGeweigerd",
                  extract(epoch from now() - coalesce(b.bijgewerkt, b.toegevoegd))::double precision as "lagSeconds",
                  case when b.laatste_nummer is null then null else greatest(b.head - b.laatste_nummer, 0) end as behind,
                  b.gelezen, b.gepubliceerd, b.geweigerd, b.mislukt, b.fout, b.fout_soort as "foutSoort", b.fout_sinds as "foutSinds",
                  b.volgende,
                  coalesce(o.codes, b.organisatiecodes) as organisaties,
                  coalesce(o.achtergehouden, 0) + coalesce(v.achtergehouden, 0) as achtergehouden,
                  coalesce(m.aantal, 0) as meldingen, b.meldingen_weggelaten as "meldingenWeggelaten", d.dekking
             from aggregator.bron b
             left join lateral (select array_agg(organisatiecode order by organisatiecode) as codes, sum(achtergehouden) as achtergehouden
                                  from aggregator.bron_organisatie where bron_id = b.id) o on true
             left join lateral (select sum(achtergehouden) as achtergehouden from aggregator.venster where bron_id = b.id) v on true
             left join lateral (select count(*) as aantal from aggregator.melding where bron_id = b.id and opgelost is null) m on true
             left join lateral (select case when sum(getoond) = 0 then 100
                                       else floor(sum(aanwezig)::double precision / sum(getoond) * 1000) / 10 end as dekking
                                  from aggregator.dekking where bron_id = b.id having count(*) > 0) d on true
            order by b.id`,
  });
  return rows;
}
