import { checkLogin } from './check-login.ts';
import { type DatabaseOptions, type DatabaseServer, openDatabaseServer } from './database-server.ts';
import { createListener, type Listener } from './listen.ts';
import { migrate } from './migrate.ts';
import { MIGRATIONS } from './migrations-directory.ts';
import { createPool, type Pool } from './pool.ts';

/** The role that serves; migration 0001 makes it. */
export const SERVICE_ROLE = 'koppelvlak_dienst';

/** The role that removes what is past its retention; migration 0001 makes it. */
export const RETENTION_ROLE = 'koppelvlak_opschoner';
/** Batches of removal are larger than what a request may ask for (milliseconds). */
const RETENTION_STATEMENT_TIMEOUT_MS = 300_000;

export interface OpenDatabase {
  readonly pool: Pool;
  /** For reads of the feed; see `Platform`. */
  readonly readPool: Pool;
  /** As `pool`, with connections that pipeline. */
  readonly pipelinePool: Pool;
  /** As the retention role; connects only when it is used. */
  readonly prunePool: Pool;
  readonly listener: Listener;
  readonly ownerUrl: string;
  /** Settles when the embedded Postgres ended, asked or not. */
  readonly exited: Promise<void>;
  readonly close: () => Promise<void>;
}

/**
 * Opens the configured database, or the embedded one, and migrates it when configured so.
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

async function connect(
  { config, log, purpose }: DatabaseOptions,
  databaseServer: DatabaseServer,
): Promise<OpenDatabase> {
  const { database } = config;
  const { url, ownerUrl, exited } = databaseServer;
  if (database.migrate) await migrate({ url: ownerUrl, dir: MIGRATIONS, log });
  const poolOptions = {
    size: database.poolSize,
    connectTimeoutMs: database.connectTimeoutMs,
    statementTimeoutMs: database.statementTimeoutMs,
    pooler: database.pooler,
    role: SERVICE_ROLE,
    applicationName: `koppelvlak ${purpose}`,
    log,
  };
  const pool = createPool({ ...poolOptions, url });
  const readPool = createPool({ ...poolOptions, url: database.readUrl ?? url });
  const pipelinePool = createPool({ ...poolOptions, url, pipeline: true });
  const prunePool = createPool({
    ...poolOptions,
    size: 2,
    statementTimeoutMs: RETENTION_STATEMENT_TIMEOUT_MS,
    // A pooler of transactions cannot switch roles: then the owner's direct address serves.
    url: database.pruneUrl ?? (database.pooler === 'none' ? url : ownerUrl),
    pooler: 'none',
    role: RETENTION_ROLE,
  });
  const listenUrl = database.listenUrl ?? (database.pooler === 'transaction' ? undefined : url);
  const listener = createListener({ url: listenUrl, log });
  const close = async (): Promise<void> => {
    await listener.close();
    await prunePool.end();
    await pipelinePool.end();
    await readPool.end();
    await pool.end();
    await databaseServer.stop();
  };
  try {
    const { bound } = await checkLogin(pool, url, SERVICE_ROLE);
    if (!bound)
      log.warn(`the login owns the database's schemas and is not bound to ${SERVICE_ROLE}: the log could be changed`);
  } catch (error) {
    await close();
    throw error;
  }
  return { pool, readPool, pipelinePool, prunePool, listener, ownerUrl, exited, close };
}
