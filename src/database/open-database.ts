import pg from 'pg';
import type { Logger } from '../lib/log.ts';
import type { Config } from '../settings/read-config.ts';
import { createListener } from './listen.ts';
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

export type Database = Awaited<ReturnType<typeof openDatabase>>;

/**
 * Opens the database, with connections by kind of work, so that one kind cannot use up those of another. All but `retentionPool` act as a role that
 * can append to the processing log but not change it. A command requires the database to be up to date.
 * @throws {Error} with a message for operators; what was opened is released
 */
export async function openDatabase(options: DatabaseOptions) {
  const { config, log, purpose, role = 'service' } = options;
  const { database, raadsfeed, verwerkingenlog } = config;
  const { poolSize } = database;
  await using opened = new AsyncDisposableStack();
  const { service, owner, exited, stop } = await openDatabaseServer(options);
  opened.defer(stop);
  if (purpose === 'service' && database.migrate) await migrate({ ...owner, dir: MIGRATIONS, log });
  const open = (size: number, more: Partial<PoolOptions> = {}): Pool => {
    const { connectTimeoutMs, statementTimeoutMs, idleSeconds, pooler } = database;
    const limits = { connectTimeoutMs, statementTimeoutMs, idleSeconds, pooler };
    const applicationName = `koppelvlak ${purpose}`;
    const pool = createPool({ ...service, ...limits, role: SERVICE_ROLE, applicationName, log, size, ...more });
    return opened.adopt(pool, () => pool.end());
  };
  const background = BACKGROUND_CONNECTIONS + (raadsfeed.rol === 'aggregator' ? SOURCES_CONNECTIONS : 0);
  /** For commands, and in a service for everything except requests. */
  const pool = open(purpose === 'command' ? poolSize : background);
  // One group of actions and two of LDV lines at a time; the fourth is for appends that wait for a key, look up or create months.
  const { groupSize } = verwerkingenlog;
  const appendPool = open(groupSize === 1 ? poolSize : APPEND_CONNECTIONS, {
    maxWaiting: Math.max(1000, 4 * groupSize),
  });
  /** For other requests of the processing log. Pipelined: statements are sent without waiting for answers, so no COPY and no cursors. */
  const logPool = open(poolSize, { pipeline: true });
  const exchangePool = open(poolSize, { pipeline: true });
  /** For public reads: the feed, pages and proof logs. A stream that catches up waits like a request. */
  const publicPool = open(poolSize, { maxWaiting: poolSize * 20 + raadsfeed.streamMax });
  // A pooler in transaction mode cannot switch roles: then the owner's direct address is used.
  const switchable = database.pooler === 'none' ? service : owner;
  const retention =
    database.pruneUrl === undefined ? switchable : { url: database.pruneUrl, variable: 'DATABASE_PRUNE_URL' };
  const retentionPool = open(2, {
    ...retention,
    statementTimeoutMs: RETENTION_STATEMENT_TIMEOUT_MS,
    pooler: 'none',
    role: RETENTION_ROLE,
  });
  const direct = database.pooler === 'none' ? service : { url: undefined, variable: undefined };
  const listener = createListener({
    ...(database.listenUrl === undefined ? direct : { url: database.listenUrl, variable: 'DATABASE_LISTEN_URL' }),
    log,
  });
  opened.defer(listener.close);
  if (role === 'retention') {
    await checkLogin(retentionPool, retention.url, RETENTION_ROLE, ' Or name a login that may in DATABASE_PRUNE_URL.');
  } else if (!(await checkLogin(pool, service.url, SERVICE_ROLE)).bound) {
    log.warn(`the login owns the database's schemas and is not bound to ${SERVICE_ROLE}: the log could be changed`);
  }
  if (purpose === 'command') await requireMigrations(role === 'retention' ? retentionPool : pool, MIGRATIONS);
  const released = opened.move();
  return {
    pool,
    appendPool,
    logPool,
    exchangePool,
    publicPool,
    retentionPool,
    listener,
    /** Address of the database as its owner, for migrations (secret). */
    ownerUrl: owner.url,
    exited,
    close: () => released.disposeAsync(),
  };
}

/** @returns whether the login is bound to its role: owns none of our schemas. @throws {Error} when it may not act as the role, with the remedy */
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

export interface DatabaseOptions {
  readonly config: Config;
  readonly log: Logger;
  /** A service owns the embedded Postgres; a command only uses a running one. */
  readonly purpose: 'service' | 'command';
  /** The role that the login must be able to act as; default `service`. With `retention` only `retentionPool` can be used. */
  readonly role?: 'service' | 'retention' | undefined;
}

/** An address, and the setting that holds it; none for the embedded Postgres. */
interface Address {
  readonly url: string;
  readonly variable: string | undefined;
}

interface DatabaseServer {
  readonly service: Address;
  readonly owner: Address;
  /** Settles when the embedded Postgres exits; with a configured database, never. */
  readonly exited: Promise<void>;
  readonly stop: () => Promise<void>;
}

/** The configured database, or the embedded one. Only a service starts that, so that no command fills an unintended database. @throws {Error} */
export async function openDatabaseServer({ config, log, purpose }: DatabaseOptions): Promise<DatabaseServer> {
  const { database, server } = config;
  const running = { exited: new Promise<void>(() => {}), stop: async () => {} };
  if (database.url !== undefined) {
    const service = { url: database.url, variable: 'DATABASE_URL' };
    const { migrationUrl: url } = database;
    return { ...running, service, owner: url === undefined ? service : { url, variable: 'DATABASE_MIGRATION_URL' } };
  }
  const { findEmbedded, startEmbedded } = await import('../embedded-postgres/start.ts');
  if (purpose === 'command') {
    const url = await findEmbedded(server.home);
    if (url === undefined) {
      const advice = 'Set DATABASE_URL, or start the service or the demo';
      throw new Error(
        `DATABASE_URL is not set, and no service with an embedded database runs on ${server.home}. ${advice}`,
      );
    }
    const service = { url, variable: undefined };
    return { ...running, service, owner: service };
  }
  log.warn('no DATABASE_URL: using the embedded Postgres, which is not meant for production');
  const { url, exited, stop } = await startEmbedded({ dir: server.home, log });
  const service = { url, variable: undefined };
  return { exited, stop, service, owner: service };
}
