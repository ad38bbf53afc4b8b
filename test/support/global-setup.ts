import { chmod, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import pg from 'pg';
import type { TestProject } from 'vitest/node';
import { socketUrl } from '../../src/embedded-postgres/data-directory.ts';
import { startEmbedded } from '../../src/embedded-postgres/start.ts';
import { migrate } from '../../src/kernel/database/migrate.ts';
import { createLogger } from '../../src/kernel/log.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    /** Address of the run's Postgres, as superuser; `postgres` is its database. */
    databaseServer: string;
    /** Name of the migrated database that `createDatabase` clones. */
    databaseTemplate: string;
  }
}

const TEMPLATE = 'koppelvlak_sjabloon';

/** One Postgres for the whole run; what it holds is thrown away, so it need not be durable. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const dir = await mkdtemp(join(tmpdir(), 'koppelvlak-test-'));
  await keepTemporaryFiles(dir);
  const log = createLogger('error');
  const settings = { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off', max_connections: '300' };
  let stop = async (): Promise<void> => {};
  const teardown = async (): Promise<void> => {
    await stop();
    await rm(dir, { recursive: true, force: true });
  };
  try {
    const postgres = await startEmbedded({ dir, log, settings });
    stop = postgres.stop;
    const server = new URL(postgres.url);
    server.pathname = '/postgres';
    await makeTemplate(server.href, log);
    project.provide('databaseServer', server.href);
    project.provide('databaseTemplate', TEMPLATE);
  } catch (error) {
    await teardown();
    throw error;
  }
  return teardown;
}

/** Whatever the tests leave in the temporary folder goes with the run. */
async function keepTemporaryFiles(dir: string): Promise<void> {
  const temporary = join(dir, 'tmp');
  await mkdir(temporary);
  // A Postgres of a test may run as another user, and passes through.
  for (const path of [dir, temporary]) await chmod(path, 0o711);
  process.env.TMPDIR = temporary;
}

async function makeTemplate(server: string, log: ReturnType<typeof createLogger>): Promise<void> {
  const client = new pg.Client({ connectionString: server });
  await client.connect();
  try {
    await client.query(`create database ${TEMPLATE}`);
    const url = socketUrl(client.host, TEMPLATE);
    await migrate({ url, dir: join(import.meta.dirname, '../../migrations'), log });
    // Nobody may connect: a clone needs its template undisturbed.
    await client.query(`alter database ${TEMPLATE} with allow_connections false is_template true`);
  } finally {
    await client.end();
  }
}
