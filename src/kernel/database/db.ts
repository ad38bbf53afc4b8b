import type pg from 'pg';

/** What a store function works with: a pool, or the client of the transaction that its caller owns. */
export interface Db {
  query<R extends pg.QueryResultRow = Record<string, unknown>>(
    query: string | pg.QueryConfig<unknown[]>,
    values?: unknown[],
  ): Promise<pg.QueryResult<R>>;
}
