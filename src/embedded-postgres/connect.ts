import { realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import type { Logger } from '../kernel/log.ts';
import { socketUrl } from './data-directory.ts';
import { isOwned, type Postmaster, readPostmaster } from './postmaster.ts';
import { EmbeddedPostgresError } from './programs.ts';
import { type EmbeddedPostgres, startEmbedded } from './start.ts';

/** How long to wait, in milliseconds, for one that is starting or stopping, and for other commands before ending ours. */
const SETTLE_WAIT_MS = 60_000;
const OTHERS_WAIT_MS = 60_000;
const POLL_MS = 20;

/**
 * The embedded Postgres for a command: the one that runs on this home directory, else one for the time the command takes. `stop`
 * ends only what this call started, and first lets other commands that came to use it finish.
 * @throws EmbeddedPostgresError
 */
export async function connectEmbedded(options: {
  dir: string;
  log: Logger;
  settings?: Readonly<Record<string, string>>;
}): Promise<Pick<EmbeddedPostgres, 'url' | 'stop'>> {
  const giveUp = Date.now() + SETTLE_WAIT_MS;
  for (;;) {
    const found = await findRunning(options.dir);
    if (found?.ready) return { url: socketUrl(found.socketDir), stop: async () => {} };
    if (found === undefined) {
      try {
        return await startForCommand(options);
      } catch (error) {
        // Another one was first: the next round connects to it.
        if (!(error instanceof EmbeddedPostgresError && error.code === 'IN_USE') || Date.now() > giveUp) throw error;
      }
    } else if (Date.now() > giveUp) {
      const message = `the embedded Postgres of process ${found.owner?.pid} neither starts nor stops`;
      throw new EmbeddedPostgresError('IN_USE', message);
    }
    await sleep(POLL_MS);
  }
}

/** The one that another living process started; one that was left behind is not to be connected to, it is about to end. */
async function findRunning(dir: string): Promise<Postmaster | undefined> {
  try {
    const found = await readPostmaster(join(await realpath(dir), 'postgres'));
    return found !== undefined && isOwned(found) ? found : undefined;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
}

async function startForCommand(options: { dir: string; log: Logger }): Promise<Pick<EmbeddedPostgres, 'url' | 'stop'>> {
  const started = await startEmbedded({ ...options, purpose: 'command' });
  const stop = async (): Promise<void> => {
    try {
      await waitForOthers(started.url, options.log);
    } finally {
      await started.stop();
    }
  };
  return { url: started.url, stop };
}

async function waitForOthers(url: string, log: Logger): Promise<void> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 5000, query_timeout: 5000 });
  client.on('error', (error) => log.debug({ err: error }, 'the connection that waits for other commands was lost'));
  await client.connect();
  try {
    const giveUp = Date.now() + OTHERS_WAIT_MS;
    for (let waited = false; Date.now() < giveUp; waited = true) {
      const { rowCount } = await client.query(
        `select from pg_stat_activity where backend_type = 'client backend' and pid <> pg_backend_pid() limit 1`,
      );
      if (rowCount === 0) return;
      if (!waited) log.info('another command uses the embedded Postgres; waiting for it to end');
      await sleep(POLL_MS);
    }
    log.warn('another command still uses the embedded Postgres, which ends now');
  } finally {
    await client.end();
  }
}
