/** Databases of benchmarks and drills. */
import { mkdtempDisposable } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MIGRATIONS, migrate } from '../../src/database/migrate.ts';
import { createPool, type Pool } from '../../src/database/pool.ts';
import { startEmbedded } from '../../src/embedded-postgres/start.ts';
import { createLogger } from '../../src/lib/log.ts';
import { query } from './standby.ts';

/** A migrated Postgres in a temporary folder. */
export async function temporaryPostgres(settings: Readonly<Record<string, string>> = {}) {
  const log = createLogger('error');
  await using stack = new AsyncDisposableStack();
  const { path: dir } = stack.use(await mkdtempDisposable(join(tmpdir(), 'koppelvlak-bench-')));
  const { url, stop } = await startEmbedded({ dir: join(dir, 'pg'), log, settings });
  stack.defer(stop);
  await migrate({ url, dir: MIGRATIONS, log });
  const ended = stack.move();
  return { dir, url, [Symbol.asyncDispose]: () => ended.disposeAsync() };
}

/** A pool without a statement timeout. */
export function openPool(
  url: string,
  { size = 2, role }: { size?: number; role?: string } = {},
): Pool & AsyncDisposable {
  const limits = { connectTimeoutMs: 20_000, statementTimeoutMs: 0, pooler: 'none' } as const;
  const log = createLogger('error');
  const pool = createPool({
    ...limits,
    url,
    size,
    ...(role === undefined ? {} : { role }),
    applicationName: 'bench',
    log,
  });
  return Object.assign(pool, { [Symbol.asyncDispose]: () => pool.end() });
}

/**
 * Creates another database on the same server.
 * @returns its address
 */
export async function createDatabase(url: string, name: string): Promise<string> {
  await query(url, `create database ${name}`);
  const address = new URL(url);
  address.pathname = `/${name}`;
  return address.href;
}

/** Sources that an aggregator has read completely. */
export async function countCaughtUp(db: Pool): Promise<number> {
  const { rows } = await db.query<{ count: number }>(
    'select count(*) as count from aggregator.sources where caught_up_at is not null',
  );
  return rows[0]?.count ?? 0;
}
