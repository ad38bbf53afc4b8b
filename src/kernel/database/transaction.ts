import pg from 'pg';
import { isDatabaseUnavailable } from './database-unavailable.ts';
import type { Db } from './db.ts';
import type { Pool } from './pool.ts';
import { cancelOnAbort } from './with-abort.ts';

interface TransactionOptions {
  /** Default `read committed`. */
  readonly isolation?: 'read committed' | 'repeatable read' | 'serializable';
  readonly readOnly?: boolean;
}

/** Runs `fn` in one transaction: committed when it returns, rolled back when it throws. */
export async function transaction<T>(
  pool: Pool,
  fn: (client: pg.PoolClient) => Promise<T>,
  options: TransactionOptions = {},
): Promise<T> {
  const client = await pool.connect();
  let broken: Error | undefined;
  try {
    await client.query(beginText(options));
    const result = await fn(client);
    const { command } = await client.query('commit');
    // The answer to `commit` after an error that `fn` caught: nothing was written, and nobody would know.
    if (command === 'ROLLBACK') throw new Error('the transaction was rolled back: a statement in it had failed');
    return result;
  } catch (error) {
    broken = await rollBack(client, error);
    throw error;
  } finally {
    client.release(broken);
  }
}

/**
 * The same for a connection that pipelines: `fn` resolves when all of its statements have been sent, and `commit` is sent right behind
 * them. So what does not depend on an earlier answer costs one round trip together.
 * @param pool made with `pipeline`
 * @param signal fires when nobody waits for the result any more: then what runs is cancelled at the server
 * @throws the signal's reason when it fired
 */
export async function pipelinedTransaction<T>(
  pool: Pool,
  fn: (client: pg.PoolClient) => Promise<{ readonly result: Promise<T> }>,
  signal: AbortSignal,
): Promise<T> {
  signal.throwIfAborted();
  const client = await pool.connect();
  const cancellation = cancelOnAbort(client, signal);
  let broken: Error | undefined;
  try {
    signal.throwIfAborted();
    const begun = client.query(beginText({}));
    // Awaited with the rest; until then a failure must not count as unhandled.
    begun.catch(() => undefined);
    const { result } = await fn(client);
    const [value, { command }] = await Promise.all([result, client.query('commit'), begun]);
    if (command === 'ROLLBACK') throw new Error('the transaction was rolled back: a statement in it had failed');
    return value;
  } catch (error) {
    broken = signal.aborted ? undefined : await rollBack(client, error);
    throw signal.aborted ? signal.reason : error;
  } finally {
    const isCancelled = await cancellation.end();
    client.release(isCancelled || broken);
  }
}

function beginText({ isolation = 'read committed', readOnly = false }: TransactionOptions): string {
  return `begin isolation level ${isolation}${readOnly ? ' read only' : ''}`;
}

/** Rolls back; what is wrong with the connection, if anything, so that it is not used again. Never hides the first error. */
async function rollBack(client: pg.PoolClient, first: unknown): Promise<Error | undefined> {
  // The server has become read-only, as after a switch of servers: the next connection looks for the one that is not.
  if (first instanceof pg.DatabaseError && first.code === '25006') return first;
  // The connection failed or fell silent: a statement may still run on it, and `rollback` would only wait behind it.
  if (first instanceof Error && !(first instanceof pg.DatabaseError) && isDatabaseUnavailable(first)) return first;
  try {
    await client.query('rollback');
    return undefined;
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}

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
