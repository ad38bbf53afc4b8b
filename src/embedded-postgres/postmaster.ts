import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { readFile, rename, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from '../kernel/log.ts';
import { EmbeddedPostgresError } from './programs.ts';

/** A process. The moment it started distinguishes it from a later one with the same number. */
interface ProcessIdentity {
  readonly pid: number;
  /** Clock ticks since boot. */
  readonly started: string;
}

/** The identity of a running process; undefined when there is none with this number. */
export function processIdentity(pid: number): ProcessIdentity | undefined {
  const stat = readProc(pid, 'stat');
  if (stat === undefined) return undefined;
  // The second field is the name in brackets and may hold anything; field 3 (state) comes after the last bracket.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const [state] = fields;
  const started = fields[19];
  if (started === undefined || state === 'Z' || state === 'X') return undefined;
  return { pid, started };
}

/** Whether this very process still runs. */
export function isRunning(process: ProcessIdentity): boolean {
  return processIdentity(process.pid)?.started === process.started;
}

/** The arguments a process was started with; empty when it is gone. */
function commandLine(pid: number): string[] {
  return readProc(pid, 'cmdline')?.split('\0') ?? [];
}

function readProc(pid: number, file: string): string | undefined {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ESRCH')) {
      return undefined;
    }
    throw error;
  }
}

/** What the process that started Postgres is: a service that stays, or a command that will end soon. */
export type Purpose = 'service' | 'command';

/** The koppelvlak process that started a Postgres. */
export interface Owner extends ProcessIdentity {
  readonly purpose: Purpose;
  /** Tells several starts of one process apart. */
  readonly start: string;
}

/** A Postgres that runs on a data directory. */
export interface Postmaster extends ProcessIdentity {
  readonly socketDir: string;
  /** It accepts connections. */
  readonly ready: boolean;
  /** Undefined when it was not started by koppelvlak. */
  readonly owner: Owner | undefined;
}

const OWNER_SETTING = 'koppelvlak.owner=';

/**
 * The owner goes with Postgres as a setting on its command line: so it exists exactly as long as the process does, and there is
 * no file of ours that can be stale.
 */
export function ownerSetting(owner: Owner): string {
  return `${OWNER_SETTING}${owner.pid}:${owner.started}:${owner.purpose}:${owner.start}`;
}

/** Where Postgres keeps the lock of a data directory. */
function lockFile(dataDir: string): string {
  return join(dataDir, 'postmaster.pid');
}

/** This process as the owner of a Postgres that it is about to start. */
export function thisOwner(purpose: Purpose): Owner {
  const self = processIdentity(process.pid);
  if (self === undefined) {
    throw new EmbeddedPostgresError('UNSUPPORTED', 'the embedded Postgres needs /proc; set DATABASE_URL instead');
  }
  return { ...self, purpose, start: randomBytes(6).toString('hex') };
}

/** Whether the process that started this Postgres is still there to end it. */
export function isOwned(postmaster: Postmaster): boolean {
  return postmaster.owner !== undefined && isRunning(postmaster.owner);
}

/**
 * The Postgres that runs on a data directory, by the lock file that Postgres itself keeps there; undefined when none runs.
 * A number in a stale lock file that now belongs to another program does not count.
 * @throws EmbeddedPostgresError NOT_ALLOWED when the directory belongs to another user.
 */
export async function readPostmaster(dataDir: string): Promise<Postmaster | undefined> {
  const text = await readLockFile(dataDir);
  return text === undefined ? undefined : postmasterOf(text, dataDir);
}

/** The Postgres that a lock file's text speaks of; undefined when that does not run. */
function postmasterOf(text: string, dataDir: string): Postmaster | undefined {
  const lines = text.split('\n');
  const pid = Number(lines[0]);
  if (!Number.isSafeInteger(pid) || pid <= 1) return undefined;
  const identity = processIdentity(pid);
  const args = commandLine(pid);
  if (identity === undefined || !args[0]?.endsWith('postgres') || args[args.indexOf('-D') + 1] !== dataDir) {
    return undefined;
  }
  const setting = args.find((arg) => arg.startsWith(OWNER_SETTING));
  const ready = lines[7]?.trim() === 'ready';
  return { ...identity, socketDir: lines[4] ?? '', ready, owner: parseOwner(setting) };
}

function parseOwner(setting: string | undefined): Owner | undefined {
  const [pid, started, purpose, start] = setting?.slice(OWNER_SETTING.length).split(':') ?? [];
  if (started === undefined || start === undefined || (purpose !== 'service' && purpose !== 'command'))
    return undefined;
  return { pid: Number(pid), started, purpose, start };
}

/**
 * The text of a data directory's lock file; undefined when there is none.
 * @throws EmbeddedPostgresError NOT_ALLOWED when the directory belongs to another user.
 */
async function readLockFile(dataDir: string): Promise<string | undefined> {
  const path = lockFile(dataDir);
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

/**
 * Whether somebody listens on a socket. The process may be invisible here (another container on the same volume), where its number
 * in the lock file says nothing; the socket is the same one all the same.
 */
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

/** Time in milliseconds for a fast shutdown, which writes what is in memory. */
const WAIT_MS = 60_000;

/**
 * Ends a Postgres whose owner is gone and waits until it is.
 * @throws EmbeddedPostgresError FAILED when it stays.
 */
export async function endOrphan(postmaster: Postmaster, log: Logger): Promise<void> {
  log.warn({ pid: postmaster.pid }, 'ending an embedded Postgres that an earlier process left behind');
  signalPostmaster(postmaster, 'SIGINT');
  const giveUp = Date.now() + WAIT_MS;
  while (isRunning(postmaster)) {
    if (Date.now() > giveUp) {
      throw new EmbeddedPostgresError('FAILED', `Postgres (process ${postmaster.pid}) was asked to stop and did not`);
    }
    await sleep(20);
  }
}

/** Sends a signal to this very process; it may have ended meanwhile. */
export function signalPostmaster(postmaster: Postmaster, signal: 'SIGINT' | 'SIGQUIT' | 'SIGKILL'): void {
  if (!isRunning(postmaster)) return;
  try {
    process.kill(postmaster.pid, signal);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error;
  }
}

/**
 * Removes a lock file whose process ended hard and whose number another program has by now, usual in containers, where numbers start
 * anew. Postgres clears away a dead one's itself, but takes any living process for a server and refuses to start.
 */
export async function removeForeignLock(dataDir: string): Promise<void> {
  const found = await readLockFile(dataDir);
  if (found === undefined) return;
  // Judged by this very text: another process may have started a Postgres since the caller checked.
  const pid = Number(found.split('\n')[0]);
  if (!Number.isSafeInteger(pid) || processIdentity(pid) === undefined || postmasterOf(found, dataDir)) return;
  // Moved aside first and checked again: a file that another process wrote in the meantime is put back.
  const lock = lockFile(dataDir);
  const aside = `${lock}.stale-${process.pid}`;
  if (!(await renameIfPresent(lock, aside))) return;
  if ((await readFile(aside, 'utf8')) === found) await rm(aside);
  else await rename(aside, lock);
}

async function renameIfPresent(from: string, to: string): Promise<boolean> {
  try {
    await rename(from, to);
    return true;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return false;
    throw error;
  }
}
