import { mkdir, realpath, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from '../kernel/log.ts';
import { ensureDatabase, initialiseData, socketUrl } from './data-directory.ts';
import {
  answers,
  endOrphan,
  isOwned,
  type Owner,
  type Postmaster,
  type Purpose,
  readPostmaster,
  removeForeignLock,
  thisOwner,
} from './postmaster.ts';
import { choosePostgresUser, EmbeddedPostgresError, postgresBinaries } from './programs.ts';
import { SOCKET_NAME, type SpawnedPostgres, separateSocketDir, spawnPostgres, stopPostgres } from './spawn.ts';

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
  /** A service waits for a command that has the database, and a command makes way by ending; default `service`. */
  readonly purpose?: Purpose;
}

/** How long to wait for a command that has the database, and for Postgres to repeat its log after a crash; in milliseconds. */
const COMMAND_WAIT_MS = 30_000;
const READY_WAIT_MS = 300_000;
const POLL_MS = 20;

/**
 * Starts the Postgres that comes with the package on a data directory of its own. Whatever way this process ends, Postgres ends.
 * @throws EmbeddedPostgresError UNSUPPORTED, NOT_ALLOWED, FAILED, and IN_USE when another process has it.
 */
export async function startEmbedded(options: EmbeddedOptions): Promise<EmbeddedPostgres> {
  const { log, settings = {}, purpose = 'service' } = options;
  const binaries = postgresBinaries();
  const owner = thisOwner(purpose);
  await mkdir(resolve(options.dir), { recursive: true });
  const home = await realpath(options.dir);
  const dataDir = join(home, 'postgres');
  const user = await choosePostgresUser(home, dataDir, binaries.postgres);
  await initialiseData(home, dataDir, { binaries, user, durable: settings.fsync !== 'off' });

  const giveUp = Date.now() + COMMAND_WAIT_MS;
  for (;;) {
    await makeWay(dataDir, { purpose, giveUp, log });
    const socketDir = await separateSocketDir(dataDir, user);
    const postgres = spawnPostgres({ dataDir, socketDir, binaries, user, owner, settings, log });
    const outcome = await readyOrEnded(dataDir, owner, postgres);
    if (typeof outcome !== 'string') return running(outcome, { dataDir, postgres, log });
    if (socketDir !== undefined) await rm(socketDir, { recursive: true, force: true });
    // Another starter was first (and may have ended since): the next round says so, waits for it, or tries again.
    const wasFirst = outcome.includes('postmaster.pid') && Date.now() < giveUp;
    if (!wasFirst && (await readPostmaster(dataDir)) === undefined) {
      throw new EmbeddedPostgresError('FAILED', `the embedded Postgres on ${dataDir} did not start:\n${outcome}`);
    }
  }
}

async function running(
  postmaster: Postmaster,
  { dataDir, postgres, log }: { dataDir: string; postgres: SpawnedPostgres; log: Logger },
): Promise<EmbeddedPostgres> {
  let stopping: Promise<void> | undefined;
  const stop = () => {
    stopping ??= stopPostgres(postgres, postmaster, log);
    return stopping;
  };
  const exited = postgres.exited.then((tail) => {
    if (stopping === undefined) log.error({ dataDir, tail }, 'the embedded Postgres ended unasked');
  });
  try {
    await ensureDatabase(postmaster.socketDir);
  } catch (error) {
    await stop();
    throw error;
  }
  return { url: socketUrl(postmaster.socketDir), stop, exited };
}

/** Ends a Postgres that was left behind; waits for a command's, refuses another service's. */
async function makeWay(
  dataDir: string,
  { purpose, giveUp, log }: { purpose: Purpose; giveUp: number; log: Logger },
): Promise<void> {
  for (let waited = false; ; waited = true) {
    const other = await readPostmaster(dataDir);
    if (other === undefined) {
      if (!(await answers(join(dataDir, SOCKET_NAME)))) return removeForeignLock(dataDir);
      if ((await readPostmaster(dataDir)) === undefined) throw inUse(dataDir, other);
      continue;
    }
    if (!isOwned(other)) {
      await endOrphan(other, log);
      continue;
    }
    if (purpose === 'command' || other.owner?.purpose !== 'command' || Date.now() > giveUp) throw inUse(dataDir, other);
    if (!waited) log.info({ pid: other.owner.pid }, 'a command uses the embedded Postgres; waiting for it to end');
    await sleep(POLL_MS);
  }
}

function inUse(dataDir: string, other: Postmaster | undefined): EmbeddedPostgresError {
  const who = other?.owner === undefined ? 'in another container' : `process ${other.owner.pid}`;
  const message = `another koppelvlak (${who}) uses ${dataDir}. Stop it, or choose another KOPPELVLAK_HOME`;
  return new EmbeddedPostgresError('IN_USE', message);
}

/** The postmaster when it is ready, or the last words of one that ended instead. */
async function readyOrEnded(dataDir: string, owner: Owner, postgres: SpawnedPostgres): Promise<Postmaster | string> {
  const polling = new AbortController();
  try {
    return await Promise.race([waitUntilReady(dataDir, owner, polling.signal), postgres.exited]);
  } catch (error) {
    postgres.end();
    throw error;
  } finally {
    polling.abort();
  }
}

/** A postmaster is ours only when it names us: an older one may still answer on the same socket. */
async function waitUntilReady(dataDir: string, owner: Owner, signal: AbortSignal): Promise<Postmaster> {
  const giveUp = Date.now() + READY_WAIT_MS;
  while (Date.now() < giveUp && !signal.aborted) {
    const found = await readPostmaster(dataDir);
    if (found?.ready && found.owner?.start === owner.start) return found;
    await sleep(POLL_MS);
  }
  throw new EmbeddedPostgresError('FAILED', `the embedded Postgres on ${dataDir} was not ready in ${READY_WAIT_MS} ms`);
}
