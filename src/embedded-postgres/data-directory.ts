import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chown, mkdir, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { EmbeddedPostgresError, POSTGRES_ENV, type PostgresBinaries, type PostgresUser } from './programs.ts';

/** Name of the superuser and of the database of the embedded Postgres. */
export const EMBEDDED_NAME = 'koppelvlak';

/**
 * Address of a database behind a socket directory. The user is in the query: `postgres://user@/database` is understood
 * by psql and pg, but is no URL to the URL standard.
 */
export function socketUrl(socketDir: string, database: string = EMBEDDED_NAME): string {
  const host = socketDir.split('/').map(encodeURIComponent).join('/');
  return `postgres:///${encodeURIComponent(database)}?host=${host}&port=5432&user=${EMBEDDED_NAME}`;
}

const TEMPORARY = 'postgres-new-';
const run = promisify(execFile);

/**
 * Makes a data directory unless it is there. It is made beside its place and moved in one step, so that a half-made one never
 * stands there, and of two processes that make one at the same time the second takes the first's.
 * @throws EmbeddedPostgresError FAILED with what initdb said.
 */
export async function initialiseData(
  home: string,
  dataDir: string,
  options: { binaries: PostgresBinaries; user: PostgresUser; durable: boolean },
): Promise<void> {
  await removeAbandoned(home);
  const present = await entries(dataDir);
  if (present.includes('PG_VERSION')) return;
  if (present.length > 0) {
    throw new EmbeddedPostgresError('FAILED', `${dataDir} is not empty and is not a data directory of Postgres`);
  }
  const temporary = join(home, `${TEMPORARY}${process.pid}`);
  await mkdir(temporary, { mode: 0o700 });
  try {
    if (options.user.ids !== undefined) await chown(temporary, options.user.ids.uid, options.user.ids.gid);
    await initdb(temporary, options);
    await rename(temporary, dataDir);
  } catch (error) {
    await rm(temporary, { recursive: true, force: true });
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    if (code !== 'ENOTEMPTY' && code !== 'EEXIST') throw error;
  }
}

async function initdb(
  dir: string,
  { binaries, user, durable }: { binaries: PostgresBinaries; user: PostgresUser; durable: boolean },
): Promise<void> {
  const locale = ['--encoding=UTF8', '--locale-provider=builtin', '--builtin-locale=C.UTF-8', '--locale=C.UTF-8'];
  const rest = ['-D', dir, '-U', EMBEDDED_NAME, '--auth=trust', ...locale, ...(durable ? [] : ['--no-sync'])];
  const [command = binaries.initdb, ...args] = [...user.prefix, binaries.initdb, ...rest];
  try {
    await run(command, args, { ...user.ids, cwd: dir, env: POSTGRES_ENV, timeout: 120_000 });
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') {
      const advice = 'it needs Linux with glibc; set DATABASE_URL to a Postgres 15 or newer';
      throw new EmbeddedPostgresError('UNSUPPORTED', `the embedded Postgres cannot run here: ${advice}`, error);
    }
    const said = error instanceof Error && 'stderr' in error ? String(error.stderr).trim() : '';
    throw new EmbeddedPostgresError('FAILED', `initdb failed: ${said || String(error)}`, error);
  }
}

/** Half-made directories of processes that no longer run. */
async function removeAbandoned(home: string): Promise<void> {
  for (const name of await entries(home)) {
    const pid = name.startsWith(TEMPORARY) ? name.slice(TEMPORARY.length) : undefined;
    if (pid === undefined || (Number(pid) !== process.pid && existsSync(`/proc/${pid}`))) continue;
    // initdb itself may have outlived its starter and still be writing: it ends by itself, hence the retries.
    await rm(join(home, name), { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
  }
}

async function entries(dir: string): Promise<string[]> {
  try {
    return await readdir(dir);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return [];
    throw error;
  }
}
