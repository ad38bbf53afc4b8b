import type { Db } from '../../kernel/database/transaction.ts';

/** An organisation as this feed itself publishes it. */
export interface OwnOrganisation {
  readonly organisatiecode: string;
  /** Absent when nothing published said it: then an organisation that is not there yet does not come either. */
  readonly naam: string | undefined;
}

/** Notes that the data of these organisations was brought up to date by this feed's own publisher. */
export async function touchOrganisations(db: Db, organisations: readonly OwnOrganisation[], at: Date): Promise<void> {
  await db.query({
    name: 'raadsfeed-touch-organisations',
    text: `insert into raadsfeed.organisatie as o (organisatiecode, naam, laatst_bijgewerkt)
           select n.organisatiecode, coalesce(n.naam, b.naam), $3::timestamptz
             from unnest($1::text[], $2::text[]) as n (organisatiecode, naam)
             left join raadsfeed.organisatie b on b.organisatiecode = n.organisatiecode
            where n.naam is not null or b.naam is not null
            order by n.organisatiecode
               on conflict (organisatiecode) do update
              set naam = excluded.naam,
                  laatst_bijgewerkt = greatest(o.laatst_bijgewerkt, excluded.laatst_bijgewerkt)`,
    values: [
      organisations.map(({ organisatiecode }) => organisatiecode),
      // A text of the database has no zero bytes; the resource itself keeps its own as JSON writes it.
      organisations.map(({ organisatiecode, naam }) =>
        naam === undefined ? null : naam.replaceAll('\0', '') || organisatiecode,
      ),
      at.toISOString(),
    ],
  });
}
