import type { Db } from '../../kernel/database/transaction.ts';

/** Tells every instance that something was removed. */
export const REMOVED_CHANNEL = 'gegevens_verwijderd';

/**
 * Takes leveringen out of what is delivered, earlier versions too, at once: no requester goes on paging through them. Their records stay
 * until they are pruned.
 * @returns the ones that were not removed before
 */
export async function removeLeveringen(db: Db, ids: readonly number[]): Promise<number[]> {
  const { rows } = await db.query<{ id: number }>(
    `with weg as (
       update gegevens.leveringen set vervallen_op = clock_timestamp(), reden = 'verwijderd'
       where id = any($1::bigint[]) and reden is distinct from 'verwijderd'
       returning id
     ), standen as (
       delete from gegevens.standen where leveringen && array(select id from weg)
     )
     select id, pg_notify('${REMOVED_CHANNEL}', '') from weg order by id`,
    [ids],
  );
  return rows.map(({ id }) => id);
}

/** When something was last removed; `undefined`: never. */
export async function lastRemoval(db: Db): Promise<Date | undefined> {
  const { rows } = await db.query<{ laatst: Date | null }>({
    name: 'gegevens-last-removal',
    text: `select max(vervallen_op) as laatst from gegevens.leveringen where reden = 'verwijderd'`,
  });
  return rows[0]?.laatst ?? undefined;
}
