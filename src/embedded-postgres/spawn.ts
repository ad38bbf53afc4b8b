import { type ChildProcess, spawn } from 'node:child_process';
import { chown, mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from '../kernel/log.ts';
import { type Owner, ownerSetting, type Postmaster, signalPostmaster } from './postmaster.ts';
import { POSTGRES_ENV, type PostgresBinaries, type PostgresUser } from './programs.ts';

/** Postgres names its socket after its port. */
export const SOCKET_NAME = '.s.PGSQL.5432';
/** `sun_path` has 108 bytes with the closing zero. */
const SOCKET_PATH_BYTES = 107;

/** A private directory for the socket when its path in the data directory would be too long; undefined when it is not. */
export async function separateSocketDir(dataDir: string, user: PostgresUser): Promise<string | undefined> {
  if (fits(dataDir)) return undefined;
  const base = fits(join(tmpdir(), 'koppelvlak-XXXXXX')) ? tmpdir() : '/tmp';
  const socketDir = await mkdtemp(join(base, 'koppelvlak-'));
  if (user.ids !== undefined) await chown(socketDir, user.ids.uid, user.ids.gid);
  return socketDir;
}

function fits(socketDir: string): boolean {
  return Buffer.byteLength(join(socketDir, SOCKET_NAME)) <= SOCKET_PATH_BYTES;
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
  /** Asks for a fast shutdown. */
  readonly end: () => void;
  /** Ends when Postgres ended; the last lines it wrote. */
  readonly exited: Promise<string>;
}

/** Starts Postgres on a data directory, behind a socket only. */
export function spawnPostgres(options: {
  dataDir: string;
  /** Directory of the socket when it is not the data directory; removed afterwards. */
  socketDir: string | undefined;
  binaries: PostgresBinaries;
  user: PostgresUser;
  owner: Owner;
  settings: Readonly<Record<string, string>>;
  log: Logger;
}): SpawnedPostgres {
  const { dataDir, socketDir, binaries, user, owner } = options;
  const settings = Object.entries({ ...SETTINGS, ...options.settings }).flatMap(([name, value]) => [
    '-c',
    `${name}=${value}`,
  ]);
  const postgres = [
    binaries.postgres,
    '-D',
    dataDir,
    '-k',
    socketDir ?? dataDir,
    '-c',
    ownerSetting(owner),
    ...settings,
  ];
  const child = spawn('/bin/sh', ['-c', GUARD, 'sh', ...user.prefix, ...postgres], {
    ...user.ids,
    cwd: dataDir,
    env: { ...POSTGRES_ENV, SOCKET_DIR: socketDir ?? '' },
    stdio: ['pipe', 'ignore', 'pipe'],
    // A group of its own: Ctrl-C must reach this process only, which then drains and ends Postgres last.
    detached: true,
  });
  // The guard may be gone before the pipe is closed.
  child.stdin.on('error', (error) => options.log.debug({ err: error }, 'pipe to the embedded Postgres broke'));
  return { end: () => child.stdin.end(), exited: watch(child, child.stderr, options.log) };
}

async function watch(child: ChildProcess, stderr: NodeJS.ReadableStream, log: Logger): Promise<string> {
  const tail: string[] = [];
  const lines = createInterface({ input: stderr });
  lines.on('line', (line) => {
    tail.push(line);
    if (tail.length > 10) tail.shift();
    if (line.startsWith('PANIC')) log.error({ postgres: line }, 'embedded Postgres');
    else if (line.startsWith('FATAL')) log.info({ postgres: line }, 'embedded Postgres');
    else log.debug({ postgres: line }, 'embedded Postgres');
  });
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', () => resolve(tail.join('\n')));
  });
}

/** Times in milliseconds after which a shutdown is made harder; both ways lose nothing that was committed. */
const FAST_MS = 30_000;
const IMMEDIATE_MS = 10_000;

/** Ends a Postgres of this process: fast, then immediate, then by force. */
export async function stopPostgres(postgres: SpawnedPostgres, postmaster: Postmaster, log: Logger): Promise<void> {
  postgres.end();
  if (await endsWithin(postgres, FAST_MS)) return;
  log.warn('the embedded Postgres does not end; ending it at once, the next start recovers from its log');
  signalPostmaster(postmaster, 'SIGQUIT');
  if (await endsWithin(postgres, IMMEDIATE_MS)) return;
  signalPostmaster(postmaster, 'SIGKILL');
  await postgres.exited;
}

async function endsWithin(postgres: SpawnedPostgres, ms: number): Promise<boolean> {
  const timer = new AbortController();
  const late = sleep(ms, false, { signal: timer.signal }).catch(() => false);
  const ended = await Promise.race([postgres.exited.then(() => true), late]);
  timer.abort();
  return ended;
}
