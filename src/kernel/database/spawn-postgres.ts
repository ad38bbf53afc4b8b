import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import type { Logger } from '../log.ts';
import type { PostgresBinaries } from './postgres-binaries.ts';
import { POSTGRES_ENV, type PostgresUser } from './postgres-user.ts';
import { type Owner, ownerSetting } from './postmaster.ts';

/**
 * Ends Postgres when the pipe on its standard input closes, and that happens however this process ends, SIGKILL included.
 * It also removes the socket's own directory, which nobody would otherwise do then.
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
