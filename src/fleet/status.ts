import type { Config } from '../kernel/config/read-config.ts';
import { MIGRATIONS, migrationState } from '../kernel/database/migrate.ts';
import { createPool } from '../kernel/database/pool.ts';
import { isRecord } from '../kernel/json-value.ts';
import type { Logger } from '../kernel/log.ts';
import { FleetError } from './organisations.ts';

/** How long a process may take to say whether it is ready, in milliseconds. */
const READY_TIMEOUT_MS = 5000;
const MEGABYTE = 1024 * 1024;

/** The state of an organisation's database, and of its process when asked for. */
export interface Status {
  readonly databaseMb: number;
  /** Migrations that the database has and this program does not know: the other way round is an error. */
  readonly newer: number;
  /** What the process says of itself; absent when it was not asked. */
  readonly process?: 'ready';
}

/**
 * Reads the state with the service's login.
 * @throws {FleetError} when the database is behind this program, or the process is not ready
 * @throws {Error} when the database cannot be reached
 */
export async function readStatus({ database, server }: Config, log: Logger, asksProcess: boolean): Promise<Status> {
  const pool = createPool({
    url: database.url ?? '',
    variable: 'DATABASE_URL',
    size: 1,
    connectTimeoutMs: database.connectTimeoutMs,
    statementTimeoutMs: database.statementTimeoutMs,
    pooler: database.pooler,
    applicationName: 'koppelvlak fleet',
    log,
  });
  try {
    const { pending, unknown } = await migrationState(pool, MIGRATIONS);
    if (pending.length > 0) throw new FleetError(`to be migrated: ${pending.length} migrations are missing`);
    const { rows } = await pool.query<{ bytes: number }>('select pg_database_size(current_database()) as bytes');
    const databaseMb = Math.round((rows[0]?.bytes ?? 0) / MEGABYTE);
    const status = { databaseMb, newer: unknown.length };
    if (!asksProcess) return status;
    await requireReady(server);
    return { ...status, process: 'ready' };
  } finally {
    await pool.end();
  }
}

async function requireReady({ managementHost, managementPort }: Config['server']): Promise<void> {
  const host = managementHost.includes(':') ? `[${managementHost}]` : managementHost;
  const signal = AbortSignal.timeout(READY_TIMEOUT_MS);
  let answer: unknown;
  try {
    const response = await fetch(`http://${host}:${managementPort}/health/ready`, { signal });
    answer = await response.json();
    if (response.ok) return;
  } catch (cause) {
    throw new FleetError(`the process does not answer on port ${managementPort}`, { cause });
  }
  const checks = isRecord(answer) && Array.isArray(answer.checks) ? answer.checks : [];
  const failed = checks.filter((check) => isRecord(check) && check.ok === false).map(({ name }) => String(name));
  throw new FleetError(`the process is not ready: ${failed.join(', ') || 'it is stopping'}`);
}
