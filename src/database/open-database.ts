import pg from 'pg';
import type { Logger } from '../lib/log.ts';
import type { Config } from '../settings/read-config.ts';
import { createListener, type Listener } from './listen.ts';
import { MIGRATIONS, migrate, requireMigrations } from './migrate.ts';
import { createPool, type Pool, type PoolOptions } from './pool.ts';
import type { Db } from './transaction.ts';

/** The role of the service, created by `migrations/0001-roles.sql`. */
const SERVICE_ROLE = 'koppelvlak_dienst';

/** The role that removes data past its retention, created by `migrations/0001-roles.sql`. */
const RETENTION_ROLE = 'koppelvlak_opschoner';
/** Removal runs in larger batches than a request (milliseconds). */
const RETENTION_STATEMENT_TIMEOUT_MS = 300_000;

const APPEND_CONNECTIONS = 4;
/** For readiness checks, indexes that follow the feed, and the sequencers of the proof logs. */
const BACKGROUND_CONNECTIONS = 6;
/** One for each source that an aggregator reads at the same time, and two to renew leases. */
const SOURCES_CONNECTIONS = 6;

/**
 * Connections by kind of work, so that one kind cannot use up those of another. All but `retentionPool` act as a role that can append to the
 * processing log but not change it.
 */
export interface Database {
  /** For commands, and in a service for everything except requests. */
  readonly pool: Pool;
  readonly appendPool: Pool;
  /** For other requests of the processing log. Pipelined: statements are sent without waiting for answers, so no COPY and no cursors. */
  readonly logPool: Pool;
  readonly exchangePool: Pool;
  /** For public reads: the feed, pages and proof logs. */
  readonly publicPool: Pool;
  /** Acts as the role that removes data past its retention; connects on first use. */
  readonly retentionPool: Pool;
  readonly listener: Listener;
  /** Address of the database as its owner, for migrations (secret). */
  readonly ownerUrl: string;
  /** Resolves when the embedded Postgres has exited, whether it was stopped or crashed. */
  readonly exited: Promise<void>;
  readonly close: () => Promise<void>;
}

/**
 * Opens the configured database, or the embedded one. A service migrates it when configured to; a command requires it to be up to date.
 * @throws {Error} with a message for operators; what was opened is released
 */
export async function openDatabase(options: DatabaseOptions): Promise<Database> {
  const databaseServer = await openDatabaseServer(options);
  try {
    return await connect(options, databaseServer);
  } catch (error) {
    await databaseServer.stop();
    throw error;
  }
}

async function connect(options: DatabaseOptions, databaseServer: DatabaseServer): Promise<Database> {
  const { config, log, purpose, role = 'service' } = options;
  const { database } = config;
  const { url, ownerUrl, variables, exited } = databaseServer;
  if (purpose === 'service' && database.migrate) {
    await migrate({ url: ownerUrl, variable: variables.ownerUrl, dir: MIGRATIONS, log });
  }
  const pools: Pool[] = [];
  const defaults: Omit<PoolOptions, 'size'> = {
    url,
    variable: variables.url,
    connectTimeoutMs: database.connectTimeoutMs,
    statementTimeoutMs: database.statementTimeoutMs,
    idleSeconds: database.idleSeconds,
    pooler: database.pooler,
    role: SERVICE_ROLE,
    applicationName: `koppelvlak ${purpose}`,
    log,
  };
  const open = (size: number, more: Partial<PoolOptions> = {}): Pool => {
    const pool = createPool({ ...defaults, size, ...more });
    pools.push(pool);
    return pool;
  };
  const { poolSize } = database;
  const { groupSize } = config.verwerkingenlog;
  const { rol } = config.raadsfeed;
  const background = BACKGROUND_CONNECTIONS + (rol === 'aggregator' ? SOURCES_CONNECTIONS : 0);
  const pool = open(purpose === 'command' ? poolSize : background);
  // One group of actions and two of LDV lines at a time; the fourth is for appends that wait for a key, look up or create months.
  const appendPool = open(groupSize === 1 ? poolSize : APPEND_CONNECTIONS, {
    maxWaiting: Math.max(1000, 4 * groupSize),
  });
  const logPool = open(poolSize, { pipeline: true });
  const exchangePool = open(poolSize, { pipeline: true });
  // A stream that catches up waits like a request.
  const publicPool = open(poolSize, { maxWaiting: poolSize * 20 + config.raadsfeed.streamMax });
  // A pooler in transaction mode cannot switch roles: then the owner's direct address is used.
  const retention =
    database.pruneUrl !== undefined
      ? { url: database.pruneUrl, variable: 'DATABASE_PRUNE_URL' }
      : database.pooler === 'none'
        ? { url, variable: variables.url }
        : { url: ownerUrl, variable: variables.ownerUrl };
  const retentionPool = open(2, {
    ...retention,
    statementTimeoutMs: RETENTION_STATEMENT_TIMEOUT_MS,
    pooler: 'none',
    role: RETENTION_ROLE,
  });
  const listenUrl = database.listenUrl ?? (database.pooler === 'transaction' ? undefined : url);
  const listener = createListener({
    url: listenUrl,
    variable: database.listenUrl === undefined ? variables.url : 'DATABASE_LISTEN_URL',
    log,
  });
  const close = async (): Promise<void> => {
    await listener.close();
    for (const one of pools.toReversed()) await one.end();
    await databaseServer.stop();
  };
  try {
    if (role === 'retention') {
      await checkLogin(
        retentionPool,
        retention.url,
        RETENTION_ROLE,
        ' Or name a login that may in DATABASE_PRUNE_URL.',
      );
    } else if (!(await checkLogin(pool, url, SERVICE_ROLE)).bound) {
      log.warn(`the login owns the database's schemas and is not bound to ${SERVICE_ROLE}: the log could be changed`);
    }
    if (purpose === 'command') await requireMigrations(role === 'retention' ? retentionPool : pool, MIGRATIONS);
  } catch (error) {
    await close();
    throw error;
  }
  return { pool, appendPool, logPool, exchangePool, publicPool, retentionPool, listener, ownerUrl, exited, close };
}

/**
 * Connects once, as a check at start.
 * @returns whether this login is bound to its role, that is, owns none of the program's schemas
 * @param alternative other advice for a login that may not act as the role
 * @throws {Error} when the login may not act as the role, with the statement that a DBA has to run
 */
export async function checkLogin(db: Db, url: string, role: string, alternative = ''): Promise<{ bound: boolean }> {
  try {
    const { rows } = await db.query<{ owns: boolean }>(
      `select exists (select from pg_namespace where nspname = 'koppelvlak' and pg_has_role(current_user, nspowner, 'USAGE')) as owns`,
    );
    return { bound: rows[0]?.owns === false };
  } catch (error) {
    const state = error instanceof pg.DatabaseError ? error.code : undefined;
    // 22023: the role does not exist, which Postgres calls an invalid value of the setting.
    if (state !== '42501' && state !== '22023') throw error;
    const login = pg.escapeIdentifier(new pg.Client(url).user ?? '');
    const advice = `Migrate first; deploy/sql/roles.sql makes logins that may, or as a DBA run: grant ${role} to ${login};${alternative}`;
    throw new Error(`the login ${login} may not act as ${role}. ${advice}`, { cause: error });
  }
}

interface DatabaseServer {
  readonly url: string;
  readonly ownerUrl: string;
  /** The settings that hold these addresses; none for the embedded Postgres. */
  readonly variables: { readonly url?: string; readonly ownerUrl?: string };
  /** Settles when an embedded Postgres has ended; never with a configured database. */
  readonly exited: Promise<void>;
  readonly stop: () => Promise<void>;
}

export interface DatabaseOptions {
  readonly config: Config;
  readonly log: Logger;
  /** A service owns the embedded Postgres; a command uses the running one, or starts it for its own duration. */
  readonly purpose: 'service' | 'command';
  /** The role that the login must be able to act as; default `service`. With `retention` only `retentionPool` can be used. */
  readonly role?: 'service' | 'retention' | undefined;
}

/** A command has no database to work on: only a service starts the embedded one, so that no command fills an unintended database. */
class NoDatabaseError extends Error {
  readonly code = 'ERR_NO_DATABASE';
  constructor(home: string) {
    super(
      `DATABASE_URL is not set, and no service with an embedded database runs on ${home}. Set DATABASE_URL, or start the service or the demo`,
    );
    this.name = 'NoDatabaseError';
  }
}

/** The configured database, or the embedded one, which a service starts and a command finds running. @throws {Error} when neither can be used */
export async function openDatabaseServer({ config, log, purpose }: DatabaseOptions): Promise<DatabaseServer> {
  const { database, server } = config;
  const never = new Promise<void>(() => {});
  if (database.url !== undefined) {
    const variables = {
      url: 'DATABASE_URL',
      ownerUrl: database.migrationUrl === undefined ? 'DATABASE_URL' : 'DATABASE_MIGRATION_URL',
    };
    const ownerUrl = database.migrationUrl ?? database.url;
    return { url: database.url, ownerUrl, variables, exited: never, stop: async () => {} };
  }
  const { findEmbedded, startEmbedded } = await import('../embedded-postgres/start.ts');
  if (purpose === 'command') {
    const url = await findEmbedded(server.home);
    if (url === undefined) throw new NoDatabaseError(server.home);
    return { url, ownerUrl: url, variables: {}, exited: never, stop: async () => {} };
  }
  log.warn('no DATABASE_URL: using the embedded Postgres, which is not meant for production');
  const { url, exited, stop } = await startEmbedded({ dir: server.home, log });
  return { url, ownerUrl: url, variables: {}, exited, stop };
}
