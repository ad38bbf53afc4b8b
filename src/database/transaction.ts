import pg from 'pg';
import { isDatabaseUnavailable } from './database-unavailable.ts';
import { closeOnAbort, type Pool, SILENCE_MARGIN_MS } from './pool.ts';

/** The database of a store function: a pool, or the client of its caller's transaction. */
export interface Db {
  query<R extends pg.QueryResultRow = Record<string, unknown>>(
    query: string | pg.QueryConfig<unknown[]>,
    values?: unknown[],
  ): Promise<pg.QueryResult<R>>;
}

interface TransactionOptions {
  readonly isolation?: 'read committed' | 'repeatable read' | 'serializable';
  readonly readOnly?: boolean;
  /** How long a statement may wait for one lock; sent along with `begin`. */
  readonly lockTimeoutMs?: number;
}

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
    // The answer to `commit` after an error that `fn` swallowed: nothing was written.
    if (command === 'ROLLBACK') throw new Error('the transaction was rolled back: a statement in it had failed');
    return result;
  } catch (error) {
    broken = await rollBack(client, error);
    throw error;
  } finally {
    client.release(broken);
  }
}

/** The promise of pipelined work resolves when its statements are sent, and the next may follow; `result` when they are answered. */
export interface Sent<T> {
  readonly result: Promise<T>;
}

/**
 * On a pool opened with `pipeline`: `commit` follows at once when `fn` has sent its statements, so that they cost one round trip together.
 * @param signal fires when the result is no longer wanted: the connection is then closed. @throws the signal's reason
 */
export async function pipelinedTransaction<T>(
  pool: Pool,
  fn: (client: pg.PoolClient) => Promise<Sent<T>>,
  signal: AbortSignal = new AbortController().signal,
): Promise<T> {
  signal.throwIfAborted();
  const client = await pool.connect();
  const detach = closeOnAbort(client, signal);
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
    detach();
    client.release(signal.aborted || broken);
  }
}

function beginText({ isolation = 'read committed', readOnly = false, lockTimeoutMs }: TransactionOptions): string {
  const begin = `begin isolation level ${isolation}${readOnly ? ' read only' : ''}`;
  const lock = lockTimeoutMs === undefined ? '' : `; set local lock_timeout = ${lockTimeoutMs}`;
  return `${begin}${lock}`;
}

/** Rolls back. @returns the fault of the connection, if it must not be reused; never hides the first error */
async function rollBack(client: pg.PoolClient, first: unknown): Promise<Error | undefined> {
  // The server has become read-only, as after a failover: the next connection looks for the new primary.
  if (first instanceof pg.DatabaseError && first.code === '25006') return first;
  // The connection failed or went silent: a statement may still run on it, and `rollback` would wait behind it.
  if (first instanceof Error && !(first instanceof pg.DatabaseError) && isDatabaseUnavailable(first)) return first;
  try {
    await client.query('rollback');
    return undefined;
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}

/** Waits for the locks of these names, in one order so that there is no deadlock, and holds them until the transaction ends. */
export async function lock(db: Db, ...names: string[]): Promise<void> {
  await db.query('select pg_advisory_xact_lock(hashtextextended(name, 0)) from unnest($1::text[]) as n(name)', [
    [...new Set(names)].sort(),
  ]);
}

/** The same without waiting. @returns false when another transaction holds one of them; then end this one, because it may hold the others */
export async function tryLock(db: Db, ...names: string[]): Promise<boolean> {
  const { rows } = await db.query<{ locked: boolean }>(
    `select coalesce(bool_and(pg_try_advisory_xact_lock(hashtextextended(name, 0))), true) as locked
     from unnest($1::text[]) as n(name)`,
    [[...new Set(names)].sort()],
  );
  return rows[0]?.locked === true;
}

/** Its statements together take no longer than this: each may use what the others left. @param ms less than the connection allows for one */
export function withTimeBudget(client: pg.PoolClient, ms: number): Db {
  const end = performance.now() + ms;
  return {
    async query(query, values) {
      // At least 1: 0 would be no limit.
      const left = Math.max(1, Math.ceil(end - performance.now()));
      await client.query(`set local statement_timeout = ${left}`);
      return await client.query(query, values);
    },
  };
}

/** The longest timer (milliseconds): the driver has no `unlimited` for a single statement. */
const LONGEST_MS = 2 ** 31 - 1;

/** Raises the limit on a statement: the server's for the whole transaction, the driver's for queries through the result. @param ms 0: no limit */
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
