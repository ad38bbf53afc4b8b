import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { chown, mkdtemp, readFile, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from '../lib/log.ts';
import { EmbeddedPostgresError, POSTGRES_ENV, type PostgresBinaries, type PostgresUser } from './programs.ts';

/** Postgres names its socket after its port. */
const SOCKET_NAME = '.s.PGSQL.5432';
/** `sun_path` has 108 bytes with the closing zero. */
const SOCKET_PATH_BYTES = 107;
const OWNER_SETTING = 'koppelvlak.owner';

/** A Postgres that runs on a data directory. */
export interface RunningPostgres {
  /** Number of its process; `undefined` when that cannot be seen from here, as in another container. */
  readonly pid: number | undefined;
  /** Number of the process that started it, while that lives. */
  readonly owner: number | undefined;
  readonly socketDir: string;
}

/**
 * The Postgres that runs on a data directory, by the lock file that Postgres itself keeps there. A number in the lock file that belongs to
 * another program by now does not count.
 * @throws EmbeddedPostgresError NOT_ALLOWED when the directory belongs to another user
 */
export async function findPostgres(dataDir: string): Promise<RunningPostgres | undefined> {
  const [number, , , , socketDir = ''] = (await readLockFile(dataDir))?.split('\n') ?? [];
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

async function readLockFile(dataDir: string): Promise<string | undefined> {
  const path = join(dataDir, 'postmaster.pid');
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    if (code !== 'EACCES') throw error;
    const message = `${path} belongs to another user; run as that user, or set DATABASE_URL`;
    throw new EmbeddedPostgresError('NOT_ALLOWED', message, error);
  }
}

/** The arguments that a process was started with; empty when it has ended. */
function commandLine(pid: number): string[] {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').slice(0, -1);
  } catch (error) {
    if (error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ESRCH')) return [];
    throw error;
  }
}

/** Whether somebody listens on a socket. */
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

/** Milliseconds for a fast shutdown, which writes what is in memory, and for an immediate one; neither loses what was committed. */
const FAST_MS = 30_000;
const IMMEDIATE_MS = 10_000;
const POLL_MS = 20;

/**
 * Makes a data directory free: ends a Postgres whose owner has gone, and removes a lock file whose number another program has by now, which
 * is usual in containers, where numbers start anew; Postgres takes any living process for a server and refuses to start.
 * @throws EmbeddedPostgresError IN_USE when a living process has it
 */
export async function takeOver(dataDir: string, log: Logger): Promise<void> {
  const running = await findPostgres(dataDir);
  if (running === undefined) return rm(join(dataDir, 'postmaster.pid'), { force: true });
  if (running.pid === undefined || running.owner !== undefined) throw inUse(dataDir, running);
  log.warn({ pid: running.pid }, 'ending an embedded Postgres that an earlier process left behind');
  process.kill(running.pid, 'SIGINT');
  const giveUp = Date.now() + FAST_MS;
  while ((await findPostgres(dataDir))?.pid === running.pid) {
    if (Date.now() > giveUp) {
      throw new EmbeddedPostgresError('FAILED', `Postgres (process ${running.pid}) was asked to stop and did not`);
    }
    await sleep(POLL_MS);
  }
}

export function inUse(dataDir: string, { owner }: RunningPostgres): EmbeddedPostgresError {
  const who = owner === undefined ? 'in another container' : `process ${owner}`;
  const message = `another koppelvlak (${who}) uses ${dataDir}. Stop it, or choose another KOPPELVLAK_HOME`;
  return new EmbeddedPostgresError('IN_USE', message);
}

/**
 * Ends Postgres when the pipe on its standard input closes, which happens however this process ends, SIGKILL included.
 * It then removes the directory of the socket too.
 */
const GUARD = `exec 3<&0
"$@" 3<&- & pid=$!
{ read -r _ <&3; kill -INT $pid; } 2>/dev/null & reader=$!
wait $pid; status=$?
kill $reader 2>/dev/null
[ -z "$SOCKET_DIR" ] || rmdir "$SOCKET_DIR" 2>/dev/null
exit $status`;

/**
 * Modest values for two cores. Statements and details of errors stay out of the log (they may hold a person's data): errors
 * reach the client anyway.
 */
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

/** A Postgres that was started and may not be ready yet. */
export interface SpawnedPostgres {
  readonly socketDir: string;
  /** Ends when Postgres ended; the last lines it wrote. */
  readonly exited: Promise<string>;
  /** Ends it: fast, then at once, then by force. */
  readonly stop: () => Promise<void>;
}

/** Starts Postgres on a data directory, behind a socket only. */
export async function spawnPostgres(options: {
  dataDir: string;
  binaries: PostgresBinaries;
  user: PostgresUser;
  settings: Readonly<Record<string, string>>;
  log: Logger;
}): Promise<SpawnedPostgres> {
  const { dataDir, binaries, user, log } = options;
  const ownSocketDir = await separateSocketDir(dataDir, user);
  const socketDir = ownSocketDir ?? dataDir;
  // On the command line: so the owner is known exactly as long as the process lives, and no file of ours can be stale.
  const settings = { [OWNER_SETTING]: String(process.pid), ...SETTINGS, ...options.settings };
  const args = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const command = [...user.prefix, binaries.postgres, '-D', dataDir, '-k', socketDir, ...args];
  const child = spawn('/bin/sh', ['-c', GUARD, 'sh', ...command], {
    ...user.ids,
    cwd: dataDir,
    env: { ...POSTGRES_ENV, SOCKET_DIR: ownSocketDir ?? '' },
    stdio: ['pipe', 'ignore', 'pipe'],
    // A group of its own: Ctrl-C must reach this process only, which then drains and ends Postgres last.
    detached: true,
  });
  // The guard may be gone before the pipe is closed.
  child.stdin.on('error', (error) => log.debug({ err: error }, 'pipe to the embedded Postgres broke'));
  const exited = lastLines(child, child.stderr, log);
  const endsWithin = (ms: number): Promise<boolean> =>
    Promise.race([exited.then(() => true), sleep(ms, false, { ref: false })]);
  const stop = async (): Promise<void> => {
    child.stdin.end();
    if (await endsWithin(FAST_MS)) return;
    log.warn('the embedded Postgres does not end; ending it at once, the next start recovers from its log');
    for (const signal of ['SIGQUIT', 'SIGKILL'] as const) {
      const { pid } = (await findPostgres(dataDir)) ?? {};
      if (pid !== undefined) process.kill(pid, signal);
      if (await endsWithin(IMMEDIATE_MS)) return;
    }
  };
  return { socketDir, exited, stop };
}

/** A private directory for the socket when its path in the data directory would be too long; undefined when it is not. */
async function separateSocketDir(dataDir: string, user: PostgresUser): Promise<string | undefined> {
  const fits = (dir: string): boolean => Buffer.byteLength(join(dir, SOCKET_NAME)) <= SOCKET_PATH_BYTES;
  if (fits(dataDir)) return undefined;
  const base = fits(join(tmpdir(), 'koppelvlak-XXXXXX')) ? tmpdir() : '/tmp';
  const socketDir = await mkdtemp(join(base, 'koppelvlak-'));
  if (user.ids !== undefined) await chown(socketDir, user.ids.uid, user.ids.gid);
  return socketDir;
}

function lastLines(child: ChildProcess, stderr: NodeJS.ReadableStream, log: Logger): Promise<string> {
  const tail: string[] = [];
  createInterface({ input: stderr }).on('line', (line) => {
    tail.push(line);
    if (tail.length > 10) tail.shift();
    const level = line.startsWith('PANIC') ? 'error' : line.startsWith('FATAL') ? 'info' : 'debug';
    log[level]({ postgres: line }, 'embedded Postgres');
  });
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', () => resolve(tail.join('\n')));
  });
}
