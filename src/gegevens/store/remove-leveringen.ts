import type { Db } from '../../kernel/database/db.ts';

/**
 * Takes leveringen out of what is delivered; their records stay until they are pruned. Requesters that are paging keep what they
 * began with.
 * @returns the ones that were current
 */
export async function removeLeveringen(db: Db, ids: readonly number[]): Promise<number[]> {
  const { rows } = await db.query<{ id: number }>(
    `update gegevens.leveringen set vervallen_op = clock_timestamp(), reden = 'verwijderd'
     where id = any($1::bigint[]) and vervallen_op is null
     returning id`,
    [ids],
  );
  return rows.map(({ id }) => id);
}
