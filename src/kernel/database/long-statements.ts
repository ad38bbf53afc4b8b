import type pg from 'pg';
import type { Db } from './db.ts';

/** More than the server's limit: only a connection that has gone silent runs into it. */
const SILENCE_MARGIN_MS = 5000;
/** As long as a timer can be (milliseconds): the driver knows no unlimited one for a single statement. */
const LONGEST_MS = 2 ** 31 - 1;

/**
 * For a transaction with statements that take longer than those of a request: lifts the limit of the server for all of it, and that of the
 * driver for what is sent through the result.
 * @param ms longest that one statement may take, in milliseconds; 0: no limit
 */
export async function allowLongStatements(client: pg.PoolClient, ms: number): Promise<Db> {
  await client.query(`select set_config('statement_timeout', $1::text, true)`, [String(ms)]);
  const queryTimeout = ms === 0 ? LONGEST_MS : ms + SILENCE_MARGIN_MS;
  return {
    query: (query, values) =>
      client.query(
        Object.assign(typeof query === 'string' ? { text: query } : { ...query }, { query_timeout: queryTimeout }),
        values,
      ),
  };
}
