import type { Db } from '../../kernel/database/transaction.ts';

/** An organisation of this feed, as the service document lists it. */
export interface FeedOrganisation {
  readonly organisatiecode: string;
  readonly naam: string;
  readonly laatstBijgewerkt: Date | null;
  readonly herkomst: string | null;
  readonly herkomstSoort: 'eigen' | 'feed' | 'leveranciers-api';
}

/** Every organisation of this feed, by code. */
export async function readOrganisations(db: Db): Promise<FeedOrganisation[]> {
  const { rows } = await db.query<FeedOrganisation>({
    name: 'raadsfeed-organisations',
    text: `select organisatiecode, naam, laatst_bijgewerkt as "laatstBijgewerkt", herkomst, herkomst_soort as "herkomstSoort"
             from raadsfeed.organisatie
            order by organisatiecode`,
  });
  return rows;
}
