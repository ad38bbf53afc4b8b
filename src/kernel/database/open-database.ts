import type { Config } from '../config/read-config.ts';
import type { Logger } from '../log.ts';
import { connectEmbedded } from './connect-embedded.ts';
import { type EmbeddedPostgres, startEmbedded } from './embedded.ts';
import { createListener, type Listener } from './listen.ts';
import { migrate } from './migrate.ts';
import { MIGRATIONS } from './migrations-directory.ts';
import { createPool, type Pool } from './pool.ts';

/** The role that serves; migration 0001 makes it. */
export const SERVICE_ROLE = 'koppelvlak_dienst';

export interface OpenDatabase {
  readonly pool: Pool;
  readonly readPool: Pool;
  readonly listener: Listener;
  readonly ownerUrl: string;
  readonly close: () => Promise<void>;
}

export interface OpenDatabaseOptions {
  readonly config: Config;
  readonly log: Logger;
  /** A service keeps the embedded Postgres; a command uses the running one, or starts it for as long as it lasts. */
  readonly purpose: 'service' | 'command';
}

/**
 * Opens the configured database, or the embedded one, and migrates it when configured so.
 * @throws {Error} with a message for operators; what was opened is given back
 */
export async function openDatabase({ config, log, purpose }: OpenDatabaseOptions): Promise<OpenDatabase> {
  const { database, server } = config;
  const embedded = database.url === undefined ? await openEmbedded(server.home, log, purpose) : undefined;
  const url = database.url ?? embedded?.url ?? '';
  const ownerUrl = database.migrationUrl ?? url;
  try {
    if (database.migrate) await migrate({ url: ownerUrl, dir: MIGRATIONS, log });
  } catch (error) {
    await embedded?.stop();
    throw error;
  }
  const poolOptions = {
    size: database.poolSize,
    connectTimeoutMs: database.connectTimeoutMs,
    statementTimeoutMs: database.statementTimeoutMs,
    pooler: database.pooler,
    // With a login of its own for migrations, the service's login is already the restricted one or a member of it.
    role: SERVICE_ROLE,
    applicationName: `koppelvlak ${purpose}`,
    log,
  };
  const pool = createPool({ ...poolOptions, url });
  const readPool = database.readUrl === undefined ? pool : createPool({ ...poolOptions, url: database.readUrl });
  const listener = createListener({
    url: database.listenUrl ?? (database.pooler === 'transaction' ? undefined : url),
    log,
  });
  return {
    pool,
    readPool,
    listener,
    ownerUrl,
    close: async () => {
      await listener.close();
      if (readPool !== pool) await readPool.end();
      await pool.end();
      await embedded?.stop();
    },
  };
}

function openEmbedded(
  dir: string,
  log: Logger,
  purpose: 'service' | 'command',
): Promise<Pick<EmbeddedPostgres, 'url' | 'stop'>> {
  if (purpose === 'command') return connectEmbedded({ dir, log });
  log.warn('no DATABASE_URL: using the embedded Postgres, which is not meant for production');
  return startEmbedded({ dir, log, purpose });
}
