import type { Db } from '../../kernel/database/transaction.ts';

/** How a source goes, for operators. */
export interface SourceHealth {
  readonly adres: string;
  readonly toestand: 'actief' | 'gepauzeerd';
  /** When all of it was last read. */
  readonly bijgewerkt: Date | null;
  /** Of its records that are still to be read; `null` when it is not known. */
  readonly achter: number | null;
  readonly geweigerd: number;
  /** The last fault in words, while it lasts, and since when. */
  readonly fout: string | null;
  readonly foutSinds: Date | null;
}

/** Sources, those that fail first; at most a hundred. */
export async function readSourceHealth(db: Db): Promise<SourceHealth[]> {
  const { rows } = await db.query<SourceHealth>(
    `select adres, toestand, bijgewerkt, greatest(head - laatste_nummer, 0) as achter, geweigerd,
            case when mislukt > 0 then fout end as fout, case when mislukt > 0 then fout_sinds end as "foutSinds"
       from aggregator.bron
      order by mislukt > 0 desc, bijgewerkt nulls first, id
      limit 100`,
  );
  return rows;
}
