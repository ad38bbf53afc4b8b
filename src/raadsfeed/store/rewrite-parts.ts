import type { Pool } from '../../kernel/database/pool.ts';
import { transaction } from '../../kernel/database/transaction.ts';

/** Longest that one part may take, in milliseconds. */
const REWRITE_TIMEOUT_MS = 600_000;
/** A reader holds a part for as long as his statement lasts; longer is not waited for, or who comes after us waits too. */
const LOCK_TIMEOUT_MS = 20_000;

/**
 * Writes the files of all parts anew that held what a redaction or pruning removed, each in a transaction of its own.
 * @returns how many parts were written anew
 */
export async function rewriteParts(pool: Pool): Promise<number> {
  const { rows } = await pool.query<{ deel: number }>('select deel from raadsfeed.opruimen order by sinds');
  let written = 0;
  for (const { deel } of rows) {
    written += await transaction(pool, async (client) => {
      await client.query(`set local statement_timeout = ${REWRITE_TIMEOUT_MS}`);
      await client.query(`set local lock_timeout = ${LOCK_TIMEOUT_MS}`);
      const { rowCount } = await client.query(
        'select from raadsfeed.herschrijf_deel($1::smallint) as geschreven where geschreven',
        [deel],
      );
      return rowCount ?? 0;
    });
  }
  return written;
}
