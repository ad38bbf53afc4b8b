/** Databases of benchmarks and drills. */
import { createPool, type Pool } from '../../src/database/pool.ts';
import { createLogger } from '../../src/lib/log.ts';
import { query } from './standby.ts';

/** A pool without a statement timeout. */
export function openPool(url: string, { size = 2, role }: { size?: number; role?: string } = {}): Pool {
  const limits = { connectTimeoutMs: 20_000, statementTimeoutMs: 0, pooler: 'none' } as const;
  const log = createLogger('error');
  return createPool({ ...limits, url, size, ...(role === undefined ? {} : { role }), applicationName: 'bench', log });
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
