import type { Db } from '../../kernel/database/transaction.ts';

/**
 * Until the transaction ends tables are read by index where there is one. For each row that is looked up in `vindplaatsen` the planner
 * counts all of its partitions, though only one is opened, and would rather read all of the table.
 */
export async function preferIndexes(db: Db): Promise<void> {
  await db.query(`select set_config('enable_seqscan', 'off', true)`);
}
