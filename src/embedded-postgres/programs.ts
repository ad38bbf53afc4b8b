/** The programs of the embedded Postgres: their location, their user, and creating a data directory. */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chown, mkdir, readdir, rename, rm, stat } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';

export class EmbeddedPostgresError extends Error {
  readonly code = 'ERR_EMBEDDED_POSTGRES';
  override readonly name = 'EmbeddedPostgresError';
}

export const EMBEDDED_NAME = 'koppelvlak';

interface PostgresBinaries {
  readonly initdb: string;
  readonly postgres: string;
}

/** Finds the Postgres of `@embedded-postgres/<platform>`. @throws {EmbeddedPostgresError} when this platform has none */
export function postgresBinaries(platform: string = process.platform, arch: string = process.arch): PostgresBinaries {
  const name = `@embedded-postgres/${platform}-${arch}`;
  try {
    // The entry point is in dist/; package.json itself is not exported.
    const bin = join(dirname(dirname(createRequire(import.meta.url).resolve(name))), 'native', 'bin');
    return { initdb: join(bin, 'initdb'), postgres: join(bin, 'postgres') };
  } catch (cause) {
    const where = `(${name}); it exists for linux-x64 and linux-arm64 (glibc)`;
    const message = `there is no embedded Postgres for this platform ${where}. Set DATABASE_URL to a Postgres 15 or newer`;
    throw new EmbeddedPostgresError(message, { cause });
  }
}

/** The user that Postgres runs as: its programs refuse root. */
export interface PostgresUser {
  readonly prefix: readonly string[];
  readonly ids: { readonly uid: number; readonly gid: number } | undefined;
}

const NOBODY = 65534;
/** A user namespace in which root is called nobody: an ordinary user to Postgres, still root to the file system. */
const NAMESPACE: PostgresUser = {
  prefix: ['unshare', '--user', `--map-user=${NOBODY}`, `--map-group=${NOBODY}`],
  ids: undefined,
};
/** Commands run with this environment only, so that no PG* variable of the caller reaches them. */
export const POSTGRES_ENV = {
  LC_ALL: 'C.UTF-8',
  TZ: 'UTC',
  PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
};

const run = promisify(execFile);

/** The owner of an existing data directory; as root, for a new one, a user namespace, else nobody. @throws {EmbeddedPostgresError} */
export async function choosePostgresUser(dataDir: string, postgres: string): Promise<PostgresUser> {
  if (process.getuid?.() !== 0) return { prefix: [], ids: undefined };
  const owner = await stat(dataDir).catch(() => undefined);
  const nobody = { prefix: [], ids: { uid: NOBODY, gid: NOBODY } };
  const isForeign = owner !== undefined && owner.uid !== 0;
  const candidates: readonly PostgresUser[] = isForeign
    ? [{ prefix: [], ids: { uid: owner.uid, gid: owner.gid } }]
    : [NAMESPACE, ...(existsSync(join(dataDir, 'PG_VERSION')) ? [] : [nobody])];
  for (const user of candidates) {
    const [command = postgres, ...args] = [...user.prefix, postgres, '--version'];
    const works = await run(command, args, { ...user.ids, cwd: '/', env: POSTGRES_ENV }).catch(() => undefined);
    if (works !== undefined) return user;
  }
  const tried = candidates.map(({ ids }) => (ids === undefined ? 'a user namespace (unshare)' : `user ${ids.uid}`));
  throw new EmbeddedPostgresError(
    `Postgres refuses to run as root, and cannot be started as ${tried.join(' or ')}. Run as an ordinary user, or set DATABASE_URL to a Postgres of your own`,
  );
}

const TEMPORARY = 'postgres-new-';

interface InitialiseOptions {
  readonly binaries: PostgresBinaries;
  readonly user: PostgresUser;
  readonly durable: boolean;
}

/**
 * Makes the data directory unless it exists: beside its place and moved in one step, so that a partial one is never used, and of two processes that
 * make one the second takes the first's. @throws {EmbeddedPostgresError} with the output of initdb
 */
export async function initialiseData(home: string, dataDir: string, options: InitialiseOptions): Promise<void> {
  for (const name of await readdir(home)) {
    // Left incomplete by a process that no longer runs.
    const isAbandoned = name.startsWith(TEMPORARY) && !existsSync(`/proc/${name.slice(TEMPORARY.length)}`);
    if (isAbandoned) await rm(join(home, name), { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
  }
  if (existsSync(dataDir)) {
    const present = await readdir(dataDir);
    if (present.includes('PG_VERSION')) return;
    if (present.length > 0)
      throw new EmbeddedPostgresError(`${dataDir} is not empty and is not a data directory of Postgres`);
  }
  const temporary = join(home, `${TEMPORARY}${process.pid}`);
  await mkdir(temporary, { mode: 0o700 });
  try {
    const { ids } = options.user;
    if (ids !== undefined) await chown(temporary, ids.uid, ids.gid);
    await initdb(temporary, options);
    await rename(temporary, dataDir);
  } catch (error) {
    await rm(temporary, { recursive: true, force: true });
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    if (code !== 'ENOTEMPTY' && code !== 'EEXIST') throw error;
  }
}

async function initdb(dir: string, { binaries, user, durable }: InitialiseOptions): Promise<void> {
  const locale = ['--encoding=UTF8', '--locale-provider=builtin', '--builtin-locale=C.UTF-8', '--locale=C.UTF-8'];
  const rest = ['-D', dir, '-U', EMBEDDED_NAME, '--auth=trust', ...locale, ...(durable ? [] : ['--no-sync'])];
  const [command = binaries.initdb, ...args] = [...user.prefix, binaries.initdb, ...rest];
  try {
    await run(command, args, { ...user.ids, cwd: dir, env: POSTGRES_ENV, timeout: 120_000 });
  } catch (cause) {
    const said = cause instanceof Error && 'stderr' in cause ? String(cause.stderr).trim() : '';
    const advice = 'It needs Linux with glibc; or set DATABASE_URL to a Postgres 15 or newer';
    throw new EmbeddedPostgresError(`initdb failed: ${said || String(cause)}. ${advice}`, { cause });
  }
}
