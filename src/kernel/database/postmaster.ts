import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { EmbeddedPostgresError } from './embedded-error.ts';
import { commandLine, isRunning, type ProcessIdentity, processIdentity } from './process-identity.ts';

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
export function lockFile(dataDir: string): string {
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
export function postmasterOf(text: string, dataDir: string): Postmaster | undefined {
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
export async function readLockFile(dataDir: string): Promise<string | undefined> {
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
