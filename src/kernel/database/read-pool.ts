import pg from 'pg';
import { isDatabaseAway } from './database-away.ts';
import { createPool, type Pool, PoolBusyError, type PoolOptions } from './pool.ts';

/** How often a replica that is away is tried again, in milliseconds. */
const TRY_AGAIN_MS = 1000;

/** SQLSTATE of a statement that was cancelled for a conflict with recovery. */
const RECOVERY_CONFLICT = '40001';

/** Reads from a replica, and from the primary while the replica is away. */
export interface ReadPool {
  /** `query` and `connect` fall back by themselves: for reads only, for a read that the replica broke off is done again. */
  readonly pool: Pool;
  /** Why the primary is read now; undefined while the replica is. */
  readonly away: () => Error | undefined;
  readonly end: () => Promise<void>;
}

/**
 * Opens a pool on a replica.
 * @param fallback a pool on the primary, which stays its owner's
 */
export function createReadPool(options: PoolOptions, fallback: Pool): ReadPool {
  const { log } = options;
  const pool = createPool(options);
  const { query, connect } = pool;
  let away: Error | undefined;
  let retry: NodeJS.Timeout | undefined;

  const tryAgain = async (): Promise<void> => {
    try {
      await Reflect.apply(query, pool, ['select 1']);
      away = undefined;
      log.info('the read replica is back');
    } catch (error) {
      noteAway(error);
    }
  };
  const noteAway = (error: unknown): void => {
    if (pool.ending) return;
    if (away === undefined) log.warn({ err: error }, 'the read replica is away: the primary is read meanwhile');
    away = error instanceof Error ? error : new Error(String(error));
    clearTimeout(retry);
    retry = setTimeout(() => void tryAgain(), TRY_AGAIN_MS).unref();
  };
  /** Does the same at the primary when the replica is away. */
  const orAtPrimary = async <T>(atReplica: () => Promise<T>, atPrimary: () => Promise<T>): Promise<T> => {
    if (away !== undefined) return atPrimary();
    try {
      return await atReplica();
    } catch (error) {
      // A replica ends a statement that stands in the way of what it has to replay.
      if (error instanceof pg.DatabaseError && error.code === RECOVERY_CONFLICT) return atPrimary();
      // A crowd at the replica must not become one at the primary.
      if (!isDatabaseAway(error) || error instanceof PoolBusyError || pool.ending) throw error;
      noteAway(error);
      return atPrimary();
    }
  };
  // Both are overloaded for callbacks and cursors, which `pg` itself uses between the two of them; those stay as they are.
  Object.defineProperty(pool, 'connect', {
    value(callback?: unknown) {
      if (callback !== undefined) return Reflect.apply(connect, pool, [callback]);
      return orAtPrimary(
        () => Reflect.apply(connect, pool, []),
        () => fallback.connect(),
      );
    },
  });
  Object.defineProperty(pool, 'query', {
    value(...args: unknown[]) {
      if (typeof args.at(-1) === 'function' || isSubmittable(args[0])) return Reflect.apply(query, pool, args);
      return orAtPrimary(
        () => Reflect.apply(query, pool, args),
        () => Reflect.apply(pg.Pool.prototype.query, fallback, args),
      );
    },
  });
  return {
    pool,
    away: () => away,
    async end() {
      clearTimeout(retry);
      await pool.end();
    },
  };
}

function isSubmittable(query: unknown): boolean {
  return typeof query === 'object' && query !== null && 'submit' in query;
}
