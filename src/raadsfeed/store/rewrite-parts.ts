import type { Pool } from '../../kernel/database/pool.ts';
import { transaction } from '../../kernel/database/transaction.ts';

/** Longest that one part may take, in milliseconds. */
const REWRITE_TIMEOUT_MS = 600_000;
/** A reader holds a part for as long as his statement lasts; longer is not waited for, or who comes after us waits too. */
const LOCK_TIMEOUT_MS = 20_000;

/**
 * Writes the files of all parts anew that held what a redaction or pruning removed, each in a transaction of its own. What another
 * process is busy with is left to it.
 * @returns how many parts were written anew
 */
export async function rewriteParts(pool: Pool): Promise<number> {
  let written = 0;
  for (;;) {
    const found = await transaction(pool, async (client) => {
      await client.query(`set local statement_timeout = ${REWRITE_TIMEOUT_MS}`);
      await client.query(`set local lock_timeout = ${LOCK_TIMEOUT_MS}`);
      const { rows } = await client.query<{ deel: number }>(
        `delete from raadsfeed.opruimen
          where deel = (select deel from raadsfeed.opruimen order by sinds limit 1 for update)
        returning deel`,
      );
      const deel = rows[0]?.deel;
      if (deel === undefined) return false;
      await client.query('select raadsfeed.herschrijf_deel($1::smallint)', [deel]);
      return true;
    });
    if (!found) return written;
    written += 1;
  }
}
