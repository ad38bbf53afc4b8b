import { mkdir, realpath } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import type { Logger } from '../lib/log.ts';
import { EMBEDDED_NAME, initialiseData, socketUrl } from './data-directory.ts';
import { choosePostgresUser, EmbeddedPostgresError, postgresBinaries } from './programs.ts';
import { findPostgres, inUse, type SpawnedPostgres, spawnPostgres, takeOver } from './server.ts';

/** A running embedded Postgres. */
export interface EmbeddedPostgres {
  /** Address of its database, as superuser. */
  readonly url: string;
  /** Ends it (and the connections that are left); again is harmless. */
  readonly stop: () => Promise<void>;
  /** Settles when Postgres ended, asked or not. */
  readonly exited: Promise<void>;
}

interface EmbeddedOptions {
  /** The home directory; the data goes in `postgres` under it. Made when absent. */
  readonly dir: string;
  readonly log: Logger;
  /** Settings of Postgres; by default it is durable. */
  readonly settings?: Readonly<Record<string, string>>;
}

/** Milliseconds for Postgres to repeat its log after a crash. */
const READY_MS = 300_000;
const POLL_MS = 20;

/**
 * Starts the Postgres that comes with the package on a data directory of its own. Whatever way this process ends, Postgres ends.
 * @throws EmbeddedPostgresError UNSUPPORTED, NOT_ALLOWED, FAILED, and IN_USE when another process has it
 */
export async function startEmbedded({ dir, log, settings = {} }: EmbeddedOptions): Promise<EmbeddedPostgres> {
  const binaries = postgresBinaries();
  await mkdir(resolve(dir), { recursive: true });
  const home = await realpath(dir);
  const dataDir = join(home, 'postgres');
  const user = await choosePostgresUser(home, dataDir, binaries.postgres);
  await initialiseData(home, dataDir, { binaries, user, durable: settings.fsync !== 'off' });
  await takeOver(dataDir, log);
  const postgres = await spawnPostgres({ dataDir, binaries, user, settings, log });
  try {
    await ensureDatabase(postgres, dataDir);
  } catch (error) {
    await postgres.stop();
    throw error;
  }
  let stopping: Promise<void> | undefined;
  const stop = () => {
    stopping ??= postgres.stop();
    return stopping;
  };
  const exited = postgres.exited.then((tail) => {
    if (stopping === undefined) log.error({ dataDir, tail }, 'the embedded Postgres ended unasked');
  });
  return { url: socketUrl(postgres.socketDir), stop, exited };
}

/** Waits until it takes connections, and makes its database if that is missing. */
async function ensureDatabase(postgres: SpawnedPostgres, dataDir: string): Promise<void> {
  let ended: string | undefined;
  const watching = postgres.exited.then((tail) => {
    ended = tail;
  });
  const giveUp = Date.now() + READY_MS;
  for (;;) {
    const client = new pg.Client({
      connectionString: socketUrl(postgres.socketDir, 'postgres'),
      query_timeout: 60_000,
    });
    try {
      await client.connect();
      // An older server may still answer on the same socket while ours ends on its lock file.
      const { rows } = await client.query('show koppelvlak.owner');
      if (rows[0]?.['koppelvlak.owner'] === String(process.pid)) return await createDatabase(client);
    } catch (error) {
      if (!isStarting(error)) throw error;
    } finally {
      await client.end();
    }
    await Promise.race([watching, sleep(POLL_MS)]);
    if (ended !== undefined) {
      const other = await findPostgres(dataDir);
      if (other !== undefined) throw inUse(dataDir, other);
      throw new EmbeddedPostgresError('FAILED', `the embedded Postgres on ${dataDir} did not start:\n${ended}`);
    }
    if (Date.now() > giveUp) {
      throw new EmbeddedPostgresError('FAILED', `the embedded Postgres on ${dataDir} was not ready in ${READY_MS} ms`);
    }
  }
}

/** No socket yet, nobody on it, or the log is still being repeated (`cannot_connect_now`); 42704: a server that names no owner. */
function isStarting(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return code === 'ENOENT' || code === 'ECONNREFUSED' || code === 'ECONNRESET' || code === '57P03' || code === '42704';
}

async function createDatabase(client: pg.Client): Promise<void> {
  const { rowCount } = await client.query('select from pg_database where datname = $1::text', [EMBEDDED_NAME]);
  if (rowCount === 0) await client.query(`create database ${EMBEDDED_NAME}`);
}

/**
 * Address of the embedded Postgres that a service or the demo runs on this home directory; `undefined` when none does.
 * @throws EmbeddedPostgresError NOT_ALLOWED when the directory belongs to another user
 */
export async function findEmbedded(dir: string): Promise<string | undefined> {
  const running = await findPostgres(join(resolve(dir), 'postgres'));
  return running === undefined ? undefined : socketUrl(running.socketDir);
}
