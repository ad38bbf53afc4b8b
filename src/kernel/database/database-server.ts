import { connectEmbedded } from '../../embedded-postgres/connect.ts';
import { startEmbedded } from '../../embedded-postgres/start.ts';
import type { Config } from '../config/read-config.ts';
import type { Logger } from '../log.ts';

/** A database that can be reached; nothing is connected to it yet. */
export interface DatabaseServer {
  /** For the service. */
  readonly url: string;
  /** For the owner: migrations. */
  readonly ownerUrl: string;
  /** The settings that hold these addresses; none for the embedded one. */
  readonly variables: { readonly url?: string; readonly ownerUrl?: string };
  /** Settles when an embedded Postgres ended; never with a configured one. */
  readonly exited: Promise<void>;
  readonly stop: () => Promise<void>;
}

export interface DatabaseServerOptions {
  readonly config: Config;
  readonly log: Logger;
  /** A service keeps the embedded Postgres; a command uses the running one, or starts it for as long as it lasts. */
  readonly purpose: 'service' | 'command';
  /** The role that the login is checked for; see `PlatformOptions`. */
  readonly role?: 'service' | 'retention' | undefined;
}

/**
 * The configured database, or the embedded one, started when it must be.
 * @throws {EmbeddedPostgresError} when the embedded one cannot be used
 */
export async function openDatabaseServer({ config, log, purpose }: DatabaseServerOptions): Promise<DatabaseServer> {
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
  if (purpose === 'command') {
    const { url, stop } = await connectEmbedded({ dir: server.home, log });
    return { url, ownerUrl: url, variables: {}, exited: never, stop };
  }
  log.warn('no DATABASE_URL: using the embedded Postgres, which is not meant for production');
  const { url, exited, stop } = await startEmbedded({ dir: server.home, log, purpose });
  return { url, ownerUrl: url, variables: {}, exited, stop };
}
