import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, readdir, rm, statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { promisify } from 'node:util';
import pg from 'pg';
import type { TestProject } from 'vitest/node';
import { migrate } from '../../src/database/migrate.ts';
import { choosePostgresUser, initialiseData, postgresBinaries } from '../../src/embedded-postgres/programs.ts';
import { socketUrl, startEmbedded } from '../../src/embedded-postgres/start.ts';
import { createLogger } from '../../src/lib/log.ts';
import {
  allowRolesOnNodes,
  CITUS_SETTING,
  createCitusDatabase,
  dropCitusDatabase,
  makeCitusTemplate,
} from './citus.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    /** Address of the run's Postgres, as superuser; `postgres` is its database. */
    databaseServer: string;
    /** Name of the migrated database that `createDatabase` clones. */
    databaseTemplate: string;
    /** Folder for the data of tests' own Postgres servers, deleted with the run. `databaseHome` copies its `postgres`. */
    databaseHomes: string;
  }
}

const TEMPLATE = 'koppelvlak_sjabloon';

/** A file system in memory, and how many bytes of it must be free. */
const MEMORY = '/dev/shm';
const ENOUGH_BYTES = 2 * 1024 ** 3;
/** Prefix of the folder with a run's data; the number of its process follows. */
const HOME_OF = 'koppelvlak-test-';

/** One Postgres for the whole run; its data are thrown away, so it need not be durable. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const dir = await mkdtemp(join(tmpdir(), 'koppelvlak-test-'));
  const home = await mkdtemp(join(await placeOfData(), `${HOME_OF}${process.pid}-`));
  const homes = join(home, 'homes');
  await mkdir(homes);
  // Postgres may run as another user, who must be able to enter.
  for (const path of [dir, home, homes]) await chmod(path, 0o711);
  await keepTemporaryFiles(dir);
  // As in `npm start`: a program that a test starts then costs a quarter of a second of CPU instead of half a second or more.
  process.env.NODE_COMPILE_CACHE ??= join(import.meta.dirname, '../../node_modules/.cache/node');
  const log = createLogger('error');
  const settings = {
    fsync: 'off',
    synchronous_commit: 'off',
    full_page_writes: 'off',
    max_connections: '300',
    // Keeps the write-ahead log small: some tests read all of it.
    max_wal_size: '256MB',
    min_wal_size: '32MB',
  };
  let stop = async (): Promise<void> => {};
  const teardown = async (): Promise<void> => {
    await stop();
    for (const path of [home, dir]) await rm(path, { recursive: true, force: true });
  };
  try {
    await initialise(home);
    await promisify(execFile)('cp', ['-a', join(home, 'postgres'), homes]);
    const postgres = await startEmbedded({ dir: home, log, settings });
    stop = postgres.stop;
    const server = new URL(postgres.url);
    server.pathname = '/postgres';
    const coordinator = process.env[CITUS_SETTING];
    const template = coordinator === undefined ? TEMPLATE : `${TEMPLATE}_${process.pid}`;
    if (coordinator === undefined) {
      await makeTemplate(server.href, log);
    } else {
      await makeDistributedTemplate(coordinator, template, log);
      stop = async () => {
        await dropCitusDatabase(coordinator, template);
        await postgres.stop();
      };
    }
    project.provide('databaseServer', server.href);
    project.provide('databaseTemplate', template);
    project.provide('databaseHomes', homes);
  } catch (error) {
    await teardown();
    throw error;
  }
  return teardown;
}

/** Makes the data directory of the run's Postgres; tests with their own Postgres start from a copy. */
async function initialise(home: string): Promise<void> {
  const binaries = postgresBinaries();
  const dataDir = join(home, 'postgres');
  const user = await choosePostgresUser(dataDir, binaries.postgres);
  await initialiseData(home, dataDir, { binaries, user, durable: false });
}

/**
 * A database is a copy of seven hundred files: on disk that costs up to half a second of CPU, in memory 30 ms. Only data are kept there,
 * because a container may mount it noexec and with 64 MB by default.
 */
async function placeOfData(): Promise<string> {
  try {
    await removeAbandoned();
    const { bavail, bsize } = await statfs(MEMORY);
    if (bavail * bsize >= ENOUGH_BYTES) return MEMORY;
  } catch {
    // No such thing on this machine.
  }
  return tmpdir();
}

/** Left in memory by a run that was killed. */
async function removeAbandoned(): Promise<void> {
  for (const name of await readdir(MEMORY)) {
    const [pid] = name.startsWith(HOME_OF) ? name.slice(HOME_OF.length).split('-') : [];
    if (Number(pid) > 0 && !existsSync(`/proc/${pid}`)) await rm(join(MEMORY, name), { recursive: true, force: true });
  }
}

/** Files that tests leave in the temporary folder are deleted with the run. */
async function keepTemporaryFiles(dir: string): Promise<void> {
  const temporary = join(dir, 'tmp');
  await mkdir(temporary);
  // So is a test's own Postgres.
  await chmod(temporary, 0o711);
  process.env.TMPDIR = temporary;
}

async function makeTemplate(server: string, log: ReturnType<typeof createLogger>): Promise<void> {
  const client = new pg.Client({ connectionString: server });
  await client.connect();
  try {
    await client.query(`create database ${TEMPLATE}`);
    const url = socketUrl(client.host, TEMPLATE);
    await migrate({ url, dir: join(import.meta.dirname, '../../migrations'), log });
    // Blocks connections: a clone needs its template undisturbed.
    await client.query(`alter database ${TEMPLATE} with allow_connections false is_template true`);
  } finally {
    await client.end();
  }
}

async function makeDistributedTemplate(
  coordinator: string,
  name: string,
  log: ReturnType<typeof createLogger>,
): Promise<void> {
  const url = await createCitusDatabase(coordinator, name);
  await migrate({ url, dir: join(import.meta.dirname, '../../migrations'), log, distributed: true });
  await allowRolesOnNodes(coordinator);
  await makeCitusTemplate(coordinator, name);
}
