import pg from 'pg';
import type { Clock } from '../clock.ts';
import type { ReadinessCheck } from '../readiness.ts';
import { readAddresses } from './addresses.ts';
import { databaseChecks } from './database-checks.ts';
import { type DatabaseServer, openDatabaseServer, type DatabaseServerOptions } from './database-server.ts';
import type { Db } from './db.ts';
import { createListener, type Listener } from './listen.ts';
import { demandMigrations, MIGRATIONS, migrate } from './migrate.ts';
import { createPool, type Pool, type PoolOptions } from './pool.ts';

/** The role that serves; migration 0001 makes it. */
const SERVICE_ROLE = 'koppelvlak_dienst';

/** The role that removes what is past its retention; migration 0001 makes it. */
const RETENTION_ROLE = 'koppelvlak_opschoner';
/** Batches of removal are larger than what a request may ask for (milliseconds). */
const RETENTION_STATEMENT_TIMEOUT_MS = 300_000;

/** What the process itself asks: readiness, and what happens at start. */
const OWN_CONNECTIONS = 2;
const APPEND_CONNECTIONS = 3;

type DatabaseOptions = DatabaseServerOptions & { readonly clock: Clock };

/** Who has connections of his own: one cannot take those of another. */
export type PoolShare = 'gegevens' | 'append' | 'verwerkingenlog' | 'raadsfeed';

interface OpenDatabase {
  /** For commands, and for what the process itself asks. */
  readonly pool: Pool;
  readonly shares: Readonly<Record<PoolShare, Pool>>;
  /** For reads of the feed; see `Platform`. */
  readonly readPool: Pool;
  readonly replicaPool: Pool | undefined;
  /** For logged reads of the processing log, with connections that pipeline. */
  readonly pipelinePool: Pool;
  /** As the retention role; connects only when it is used. */
  readonly prunePool: Pool;
  readonly listener: Listener;
  /** What an operator must know of the connections. */
  readonly checks: readonly ReadinessCheck[];
  readonly ownerUrl: string;
  /** Settles when the embedded Postgres ended, asked or not. */
  readonly exited: Promise<void>;
  readonly close: () => Promise<void>;
}

/**
 * Opens the configured database, or the embedded one. A service migrates it when configured so; a command demands that it is up to date.
 * @throws {Error} with a message for operators; what was opened is given back
 */
export async function openDatabase(options: DatabaseOptions): Promise<OpenDatabase> {
  const databaseServer = await openDatabaseServer(options);
  try {
    return await connect(options, databaseServer);
  } catch (error) {
    await databaseServer.stop();
    throw error;
  }
}

async function connect(options: DatabaseOptions, databaseServer: DatabaseServer): Promise<OpenDatabase> {
  const { config, log, clock, purpose, role = 'service' } = options;
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
  const half = Math.max(2, Math.ceil(poolSize / 2));
  const { groupSize } = config.verwerkingenlog;
  const { rol, aggregatorConcurrency } = config.raadsfeed;
  const pool = open(purpose === 'command' ? poolSize : OWN_CONNECTIONS);
  const shares = {
    gegevens: open(poolSize),
    // One group at a time; beside it what was appended before is looked up, and months are made.
    append: open(groupSize === 1 ? poolSize : APPEND_CONNECTIONS, { maxWaiting: Math.max(1000, 4 * groupSize) }),
    verwerkingenlog: open(half),
    // Each source that is read may hold one, and its lease is renewed meanwhile.
    raadsfeed: open(rol === 'aggregator' ? Math.max(half, Math.min(poolSize, aggregatorConcurrency + 2)) : half),
  };
  const pipelinePool = open(half, { pipeline: true });
  // A stream that catches up waits its turn as a request does.
  const feedReads = { maxWaiting: poolSize * 20 + config.raadsfeed.streamMax };
  const readPool = open(poolSize, feedReads);
  const replicaPool =
    database.readUrl === undefined
      ? undefined
      : open(poolSize, { ...feedReads, url: database.readUrl, variable: 'DATABASE_READ_URL' });
  // A pooler of transactions cannot switch roles: then the owner's direct address serves.
  const retention =
    database.pruneUrl !== undefined
      ? { url: database.pruneUrl, variable: 'DATABASE_PRUNE_URL' }
      : database.pooler === 'none'
        ? { url, variable: variables.url }
        : { url: ownerUrl, variable: variables.ownerUrl };
  const prunePool = open(2, {
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
    if (role === 'retention') await checkRetentionLogin(prunePool, retention.url);
    else await checkServiceLogin(pool, url, log);
    if (purpose === 'command') await demandMigrations(role === 'retention' ? prunePool : pool, MIGRATIONS);
  } catch (error) {
    await close();
    throw error;
  }
  const checks = databaseChecks({ pool, listener, clock, areas: config.server.areas });
  return { pool, shares, readPool, replicaPool, pipelinePool, prunePool, listener, checks, ownerUrl, exited, close };
}

async function checkServiceLogin(pool: Pool, url: string, log: DatabaseOptions['log']): Promise<void> {
  const { bound } = await checkLogin(pool, url, SERVICE_ROLE);
  if (!bound)
    log.warn(`the login owns the database's schemas and is not bound to ${SERVICE_ROLE}: the log could be changed`);
}

/** @throws {LoginError} when the login may not act as the role that removes */
export async function checkRetentionLogin(pool: Pool, url: string): Promise<void> {
  await checkLogin(pool, url, RETENTION_ROLE, ' Or name a login that may in DATABASE_PRUNE_URL.');
}

/** A login that cannot do, or can do more than, what its role is for. */
class LoginError extends Error {
  constructor(message: string, cause?: unknown) {
    super(message, { cause });
    this.name = 'LoginError';
  }
}

/**
 * Connects once as a check at start.
 * @returns whether this login is bound to its role, that is, whether it owns none of the program's schemas. Behind a transaction
 *   pooler, where no role can be asked for, that depends on the login alone.
 * @param otherwise what else helps a login that may not act as the role
 * @throws LoginError when the login may not act as the role, with the statement that a DBA has to run.
 */
export async function checkLogin(db: Db, url: string, role: string, otherwise = ''): Promise<{ bound: boolean }> {
  try {
    const { rows } = await db.query<{ owns: boolean }>(
      `select exists (select from pg_namespace where nspname = 'koppelvlak' and pg_has_role(current_user, nspowner, 'USAGE')) as owns`,
    );
    return { bound: rows[0]?.owns === false };
  } catch (error) {
    const state = error instanceof pg.DatabaseError ? error.code : undefined;
    // 22023: the role does not exist, which Postgres calls an invalid value of the setting.
    if (state !== '42501' && state !== '22023') throw error;
    const login = pg.escapeIdentifier(new pg.Client(readAddresses(url).urls[0]).user ?? '');
    const advice = `Migrate first, then as a DBA run: grant ${role} to ${login};${otherwise}`;
    throw new LoginError(`the login ${login} may not act as ${role}. ${advice}`, error);
  }
}
