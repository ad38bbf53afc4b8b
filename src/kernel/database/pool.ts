import pg from 'pg';
import type { Logger } from '../log.ts';
import { withSessionSettings } from './connection-options.ts';
import { typeParsers } from './type-parsers.ts';
import { UnnamedClient } from './unnamed-client.ts';

export type Pool = pg.Pool;

export interface PoolOptions {
  readonly url: string;
  /** Most connections at the same time. */
  readonly size: number;
  /** Time in milliseconds to get a connection, waiting for a free one included. */
  readonly connectTimeoutMs: number;
  /** Time in milliseconds that one statement may take; 0: no limit. */
  readonly statementTimeoutMs: number;
  /**
   * `transaction`: the address is of a pooler that gives a server per transaction. Then nothing is asked of the session (role and
   * statement timeout must be set on the login) and statements are not named.
   */
  readonly pooler: 'none' | 'transaction';
  /** The role to act as, whatever the login is; not with a pooler. */
  readonly role?: string | undefined;
  /** Statements of one connection are sent without waiting for each other's answers; then neither COPY nor cursors work. */
  readonly pipeline?: boolean;
  /** Shown in `pg_stat_activity`. */
  readonly applicationName: string;
  readonly log: Logger;
}

/** More than the server's own limit: only a connection that has gone silent runs into it. */
const SILENCE_MARGIN_MS = 5000;
const IDLE_MS = 30_000;
/** After this time a connection is made anew, so that it follows a change of servers. */
const LIFETIME_SECONDS = 1800;

/** A pool of connections. Nothing connects before the first use. Whoever makes it ends it. */
export function createPool(options: PoolOptions): Pool {
  const { url, statementTimeoutMs, role, log } = options;
  const direct = options.pooler === 'none';
  const pool = new pg.Pool({
    connectionString: direct ? withSessionSettings(url, { statementTimeoutMs, role }) : url,
    max: options.size,
    connectionTimeoutMillis: options.connectTimeoutMs,
    ...(statementTimeoutMs === 0 ? {} : { query_timeout: statementTimeoutMs + (direct ? SILENCE_MARGIN_MS : 0) }),
    idleTimeoutMillis: IDLE_MS,
    maxLifetimeSeconds: LIFETIME_SECONDS,
    keepAlive: true,
    application_name: options.applicationName,
    types: typeParsers,
    pipeline: options.pipeline ?? false,
    ...(direct ? {} : { Client: UnnamedClient }),
  });
  // Without the first listener an idle connection that the server closes ends the process; without the second, one in use does.
  pool.on('error', (error) => log.warn({ err: error }, 'an idle database connection was lost'));
  pool.on('connect', (client) => {
    client.on('error', (error) => log.warn({ err: error }, 'a database connection was lost'));
  });
  return pool;
}
