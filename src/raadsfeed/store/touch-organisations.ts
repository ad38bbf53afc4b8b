import type { Db } from '../../kernel/database/db.ts';

/** An organisation as this feed itself publishes it. */
export interface OwnOrganisation {
  readonly organisatiecode: string;
  /** Absent when nothing published said it: then the name stays, or is the code. */
  readonly naam: string | undefined;
}

/** Notes that the data of these organisations was brought up to date by this feed's own publisher. */
export async function touchOrganisations(db: Db, organisations: readonly OwnOrganisation[], at: Date): Promise<void> {
  await db.query({
    name: 'raadsfeed-touch-organisations',
    text: `insert into raadsfeed.organisatie as o (organisatiecode, naam, laatst_bijgewerkt)
           select organisatiecode, coalesce(naam, organisatiecode), $3::timestamptz
             from unnest($1::text[], $2::text[]) as n (organisatiecode, naam)
            order by organisatiecode
               on conflict (organisatiecode) do update
              set naam = case when excluded.naam = excluded.organisatiecode then o.naam else excluded.naam end,
                  laatst_bijgewerkt = greatest(o.laatst_bijgewerkt, excluded.laatst_bijgewerkt)`,
    values: [
      organisations.map(({ organisatiecode }) => organisatiecode),
      organisations.map(({ naam }) => naam ?? null),
      at.toISOString(),
    ],
  });
}
