/** Starts the Postgres of the package, for a first start, the demo and the tests. It ends with this process, however that ends. */
import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { chown, mkdir, mkdtemp, readFile, realpath, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import type { Logger } from '../lib/log.ts';
import {
  choosePostgresUser,
  EMBEDDED_NAME,
  EmbeddedPostgresError,
  initialiseData,
  POSTGRES_ENV,
  type PostgresUser,
  postgresBinaries,
} from './programs.ts';

/** Postgres names its socket after its port. */
const SOCKET_NAME = '.s.PGSQL.5432';
/** `sun_path` has 108 bytes with the closing zero. */
const SOCKET_PATH_BYTES = 107;
const OWNER_SETTING = 'koppelvlak.owner';
/** Milliseconds for Postgres to replay its log after a crash, or to flush its memory when it stops. */
const READY_MS = 300_000;
const STOP_MS = 30_000;
const POLL_MS = 20;

export type EmbeddedPostgres = Awaited<ReturnType<typeof startEmbedded>>;

interface EmbeddedOptions {
  /** The home directory; the data goes in `postgres` under it. Made when absent. */
  readonly dir: string;
  readonly log: Logger;
  readonly settings?: Readonly<Record<string, string>>;
}

/** @throws {EmbeddedPostgresError} when it cannot run here, did not start, or another process uses the directory */
export async function startEmbedded({ dir, log, settings = {} }: EmbeddedOptions) {
  const binaries = postgresBinaries();
  await mkdir(resolve(dir), { recursive: true });
  const home = await realpath(dir);
  const dataDir = join(home, 'postgres');
  const user = await choosePostgresUser(dataDir, binaries.postgres);
  await initialiseData(home, dataDir, { binaries, user, durable: settings.fsync !== 'off' });
  await awaitPrevious(dataDir);
  const { child, socketDir } = await spawnPostgres(dataDir, binaries.postgres, user, settings);
  const exited = lastLines(child, log);
  let stopping: Promise<void> | undefined;
  const stop = (): Promise<void> => {
    stopping ??= (async () => {
      child.stdin?.end();
      const inTime = await Promise.race([exited.then(() => true), sleep(STOP_MS, false, { ref: false })]);
      if (inTime) return;
      log.warn('the embedded Postgres does not end; ending it by force, the next start recovers from its log');
      if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
      await exited;
    })();
    return stopping;
  };
  try {
    await ensureDatabase(socketDir, dataDir, exited);
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    url: socketUrl(socketDir),
    /** Ends it and its remaining connections; may be repeated. */
    stop,
    exited: exited.then((tail) => {
      if (stopping === undefined) log.error({ dataDir, tail }, 'the embedded Postgres ended unexpectedly');
    }),
  };
}

/** Address of the embedded Postgres that runs on this home directory; `undefined` without one. @throws {EmbeddedPostgresError} as `findPostgres` */
export async function findEmbedded(dir: string): Promise<string | undefined> {
  const running = await findPostgres(join(resolve(dir), 'postgres'));
  return running === undefined ? undefined : socketUrl(running.socketDir);
}

/** The user is in the query: psql and pg accept `postgres://user@/database`, but the URL standard does not. */
export function socketUrl(socketDir: string, database: string = EMBEDDED_NAME): string {
  const host = socketDir.split('/').map(encodeURIComponent).join('/');
  return `postgres:///${encodeURIComponent(database)}?host=${host}&port=5432&user=${EMBEDDED_NAME}`;
}

interface RunningPostgres {
  /** Its process id; `undefined` when not visible from here, as in another container. */
  readonly pid: number | undefined;
  /** The id of the process that started it, while that lives. */
  readonly owner: number | undefined;
  readonly socketDir: string;
}

/** By the lock file of Postgres; an id in it that another program has by now does not count. @throws {EmbeddedPostgresError} */
export async function findPostgres(dataDir: string): Promise<RunningPostgres | undefined> {
  const path = join(dataDir, 'postmaster.pid');
  const lockFile = await readFile(path, 'utf8').catch((cause: unknown) => {
    const code = cause instanceof Error && 'code' in cause ? cause.code : undefined;
    if (code === 'ENOENT' || code === 'ENOTDIR') return '';
    const advice = 'Run as the user that owns it, or set DATABASE_URL';
    throw new EmbeddedPostgresError(`${path} cannot be read. ${advice}`, { cause });
  });
  const [number, , , , socketDir = ''] = lockFile.split('\n');
  const pid = Number(number);
  const args = pid > 1 ? commandLine(pid) : [];
  if (args[0]?.endsWith('postgres') && args[args.indexOf('-D') + 1] === dataDir) {
    const setting = args.find((arg) => arg.startsWith(`${OWNER_SETTING}=`));
    const owner = Number(setting?.slice(OWNER_SETTING.length + 1));
    return { pid, socketDir, owner: owner > 1 && commandLine(owner).length > 0 ? owner : undefined };
  }
  if (socketDir === '' || !(await answers(join(socketDir, SOCKET_NAME)))) return undefined;
  return { pid: undefined, owner: undefined, socketDir };
}

function commandLine(pid: number): string[] {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').slice(0, -1);
  } catch {
    return [];
  }
}

export function answers(socketPath: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(socketPath);
    const finish = (answer: boolean): void => {
      socket.destroy();
      resolve(answer);
    };
    socket.once('connect', () => finish(true));
    socket.once('error', () => finish(false));
    socket.setTimeout(1000, () => finish(true));
  });
}

/**
 * Waits until the guard has ended a Postgres whose owner was killed. Then removes the lock file: Postgres takes any living process with its id for a
 * server, and in containers ids recur.
 */
async function awaitPrevious(dataDir: string): Promise<void> {
  const giveUp = Date.now() + STOP_MS;
  for (;;) {
    const running = await findPostgres(dataDir);
    if (running === undefined) return rm(join(dataDir, 'postmaster.pid'), { force: true });
    if (running.pid === undefined || running.owner !== undefined || Date.now() > giveUp) throw inUse(dataDir, running);
    await sleep(POLL_MS);
  }
}

function inUse(dataDir: string, { owner, pid }: RunningPostgres): EmbeddedPostgresError {
  const where = pid === undefined ? 'in another container' : `Postgres, process ${pid}`;
  const who = owner === undefined ? where : `process ${owner}`;
  return new EmbeddedPostgresError(
    `another koppelvlak (${who}) uses ${dataDir}. Stop it, or choose another KOPPELVLAK_HOME`,
  );
}

/** Ends Postgres when its standard input closes, which happens however this process ends, SIGKILL included; removes the directory of its socket. */
const GUARD = `exec 3<&0
"$@" 3<&- & pid=$!
{ read -r _ <&3; kill -INT $pid; } 2>/dev/null & reader=$!
wait $pid; status=$?
kill $reader 2>/dev/null
[ -z "$SOCKET_DIR" ] || rmdir "$SOCKET_DIR" 2>/dev/null
exit $status`;

/** Modest values for two cores. Statements and error details stay out of the log because they may hold personal data; clients receive them anyway. */
const SETTINGS = {
  listen_addresses: '',
  unix_socket_permissions: '0700',
  max_connections: '100',
  shared_buffers: '128MB',
  jit: 'off',
  timezone: 'UTC',
  log_min_messages: 'log',
  log_min_error_statement: 'panic',
  log_error_verbosity: 'terse',
  log_checkpoints: 'off',
  log_line_prefix: '',
};

async function spawnPostgres(
  dataDir: string,
  postgres: string,
  user: PostgresUser,
  more: Readonly<Record<string, string>>,
): Promise<{ child: ChildProcess; socketDir: string }> {
  const isTooLong = Buffer.byteLength(join(dataDir, SOCKET_NAME)) > SOCKET_PATH_BYTES;
  const ownSocketDir = isTooLong ? await mkdtemp(join(tmpdir(), 'koppelvlak-')) : undefined;
  if (ownSocketDir !== undefined && user.ids !== undefined) await chown(ownSocketDir, user.ids.uid, user.ids.gid);
  const socketDir = ownSocketDir ?? dataDir;
  // On the command line, so that the owner is known exactly as long as the process lives, and no file of ours can be stale.
  const settings = { [OWNER_SETTING]: String(process.pid), ...SETTINGS, ...more };
  const args = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const command = [...user.prefix, postgres, '-D', dataDir, '-k', socketDir, ...args];
  const child = spawn('/bin/sh', ['-c', GUARD, 'sh', ...command], {
    ...user.ids,
    cwd: dataDir,
    env: { ...POSTGRES_ENV, SOCKET_DIR: ownSocketDir ?? '' },
    stdio: ['pipe', 'ignore', 'pipe'],
    // In its own process group: Ctrl-C must reach only this process, which then drains and ends Postgres last.
    detached: true,
  });
  // The guard may end before the pipe is closed.
  child.stdin.on('error', () => undefined);
  return { child, socketDir };
}

function lastLines(child: ChildProcess, log: Logger): Promise<string> {
  const tail: string[] = [];
  if (child.stderr !== null)
    createInterface({ input: child.stderr }).on('line', (line) => {
      tail.push(line);
      if (tail.length > 10) tail.shift();
      log[line.startsWith('PANIC') ? 'error' : 'debug']({ postgres: line }, 'embedded Postgres');
    });
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', () => resolve(tail.join('\n')));
  });
}

async function ensureDatabase(socketDir: string, dataDir: string, exited: Promise<string>): Promise<void> {
  let ended: string | undefined;
  const watching = exited.then((tail) => {
    ended = tail;
  });
  for (const giveUp = Date.now() + READY_MS; Date.now() < giveUp; ) {
    const client = new pg.Client({ connectionString: socketUrl(socketDir, 'postgres'), query_timeout: 60_000 });
    try {
      await client.connect();
      // An older server may still answer on the same socket while ours fails on its lock file.
      const { rows } = await client.query('show koppelvlak.owner');
      if (rows[0]?.['koppelvlak.owner'] === String(process.pid)) {
        const { rowCount } = await client.query('select from pg_database where datname = $1::text', [EMBEDDED_NAME]);
        if (rowCount === 0) await client.query(`create database ${EMBEDDED_NAME}`);
        return;
      }
    } catch (error) {
      if (!isStarting(error)) throw error;
    } finally {
      await client.end();
    }
    await Promise.race([watching, sleep(POLL_MS)]);
    if (ended !== undefined) {
      const other = await findPostgres(dataDir);
      if (other !== undefined) throw inUse(dataDir, other);
      throw new EmbeddedPostgresError(`the embedded Postgres on ${dataDir} did not start:\n${ended}`);
    }
  }
  throw new EmbeddedPostgresError(`the embedded Postgres on ${dataDir} was not ready in ${READY_MS} ms`);
}

/** No socket yet, no listener, or the log is still being replayed (`cannot_connect_now`); 42704: a server without an owner. */
function isStarting(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  return ['ENOENT', 'ECONNREFUSED', 'ECONNRESET', '57P03', '42704'].includes(code);
}
