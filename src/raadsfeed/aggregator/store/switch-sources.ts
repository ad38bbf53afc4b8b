import type { Db } from '../../../kernel/database/transaction.ts';

/** Everything that the feed has of an organisation: `<resourceType>/<bronidentificatie>`. */
export async function readStateKeys(db: Db, organisatiecode: string): Promise<Set<string>> {
  const { rows } = await db.query<{ key: string }>(
    `select resource_type || '/' || bronidentificatie as key from raadsfeed.stand where organisatiecode = $1::text`,
    [organisatiecode],
  );
  return new Set(rows.map(({ key }) => key));
}

/**
 * Gives organisations of one source to another, which begins with a comparison of its snapshot; the one that has none left is
 * forgotten. Whoever is at work on either loses his lease. The caller owns the transaction.
 */
export async function takeOverOrganisations(
  db: Db,
  {
    from,
    to,
    codes,
    allowMassDelete,
  }: { from: number; to: string; codes: readonly string[]; allowMassDelete: boolean },
): Promise<void> {
  const { rows } = await db.query<{ id: number }>(
    `insert into aggregator.bron as b (adres, soort, mag_massaal, vergelijken)
     values ($1::text, 'feed', $2::boolean, true)
         on conflict (adres) do update
        set mag_massaal = b.mag_massaal or excluded.mag_massaal, hervergelijken = now(), volgende = now(),
            huur_nummer = b.huur_nummer + 1, huurder = null, huur_tot = null,
            organisatiecodes = case when b.organisatiecodes = '{}' then '{}' else b.organisatiecodes || $3::text[] end
  returning id`,
    [to, allowMassDelete, codes],
  );
  const id = rows[0]?.id;
  await db.query(
    `update aggregator.bron set huur_nummer = huur_nummer + 1, huurder = null, huur_tot = null where id = $1::integer`,
    [from],
  );
  // Until the new source's own document names them: nothing of them is published before.
  await db.query(
    `update aggregator.bron_organisatie set bron_id = $1::integer, aanwezig = false, bron_bijgewerkt = null, achtergehouden = 0
      where bron_id = $2::integer and organisatiecode = any ($3::text[])`,
    [id, from, codes],
  );
  await db.query(
    `delete from aggregator.bron where id = $1::integer
        and not exists (select from aggregator.bron_organisatie where bron_id = $1::integer)`,
    [from],
  );
}
