import type { Pool } from '../../kernel/database/pool.ts';
import { allowLongStatements, type Db, transaction } from '../../kernel/database/transaction.ts';

export interface Prunable {
  readonly id: number;
  readonly invoerId: number;
  readonly nummer: number;
  readonly organisatie: string;
  readonly records: number;
  readonly bytes: number;
}

/**
 * Earlier versions that may be thrown away: not delivered any more since before `before`, and in no state that a requester is still
 * paging through at `now`.
 */
export async function findPrunable(db: Db, before: Date, now: Date): Promise<Prunable[]> {
  const { rows } = await db.query<Prunable & Record<string, unknown>>(
    `select l.id, l.invoer_id as "invoerId", l.nummer, coalesce(l.naam, l.organisatie_sleutel) as organisatie, l.records, l.bytes
     from gegevens.leveringen l
     where l.vervallen_op < $1::timestamptz
       and not exists (
         select from gegevens.standen s where s.verloopt_op > $2::timestamptz and l.id = any(s.leveringen))
     order by l.id`,
    [before, now],
  );
  return rows;
}

/** Throws away one earlier version, records and all, at once or not at all. */
export async function pruneLevering(pool: Pool, { id, invoerId, nummer }: Prunable): Promise<void> {
  await transaction(pool, async (client) => {
    // A quarter of a large city takes longer than a request may.
    const db = await allowLongStatements(client, 0);
    const deleted = await db.query(
      'delete from gegevens.leveringen where id = $1::bigint and vervallen_op is not null',
      [id],
    );
    if (deleted.rowCount === 0) return;
    const key = [invoerId, nummer];
    for (const table of ['records', 'looptijden', 'zaken_bij', 'zaak_signalen']) {
      await db.query(`delete from gegevens.${table} where invoer_id = $1::bigint and levering = $2::int`, key);
    }
    await db.query(
      `delete from gegevens.invoeren i where i.id = $1::bigint
         and not exists (select from gegevens.leveringen l where l.invoer_id = i.id)`,
      [invoerId],
    );
  });
}

/** Forgets the states that no requester pages through any more. @returns how many */
export async function pruneStanden(db: Db, now: Date): Promise<number> {
  const { rowCount } = await db.query('delete from gegevens.standen where verloopt_op <= $1::timestamptz', [now]);
  return rowCount ?? 0;
}
