/** Opens the store of versions in the form for this database: one machine, or Citus. */
import type { Db } from '../../database/transaction.ts';
import { appendTogether, createVersionStore, type QueueForward, type VersionStore } from './append.ts';
import { appendByTable } from './append-by-table.ts';

/** @param forward absent: nothing is forwarded */
export async function openVersionStore(db: Db, forward: QueueForward | undefined): Promise<VersionStore> {
  return (await isDistributed(db))
    ? createVersionStore(appendByTable, { isOneStatement: false, forward })
    : createVersionStore(appendTogether, { isOneStatement: forward === undefined, forward });
}

/** Whether the tables of the log are distributed over the nodes of Citus: `koppelvlak migrate --distributed`. */
async function isDistributed(db: Db): Promise<boolean> {
  const { rows } = await db.query<{ citus: boolean }>(
    `select to_regclass('pg_catalog.pg_dist_partition') is not null as citus`,
  );
  if (rows[0]?.citus !== true) return false;
  const { rows: found } = await db.query(
    `select 1 from pg_catalog.pg_dist_partition where logicalrelid = to_regclass('verwerkingenlog.versies')`,
  );
  return found.length > 0;
}
