import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import type { Logger } from '../lib/log.ts';
import { connectionError } from './database-unavailable.ts';
import { nameDatabase } from './name-database.ts';
import type { Db } from './transaction.ts';

export const MIGRATIONS = fileURLToPath(new URL('../../migrations', import.meta.url));

/** The database could not be brought up to date; the message gives the remedy. */
export class MigrationError extends Error {
  readonly code: 'NEWER_DATABASE' | 'BEHIND' | 'NOT_ALLOWED' | 'FAILED';

  constructor(code: MigrationError['code'], message: string, cause?: unknown) {
    super(message, { cause });
    this.name = 'MigrationError';
    this.code = code;
  }
}

/** Folder of scripts that distribute tables over the nodes of Citus; they run each time. */
const DISTRIBUTED = 'distributed';
const SCHEMA = 'koppelvlak';
const TABLE = 'migrations';
/** How long to wait (milliseconds) for another instance that is migrating, perhaps a large table. */
const LOCK_TIMEOUT_MS = 600_000;
const CONNECT_TIMEOUT_MS = 10_000;
const FILE = /^\d{4}-[a-z0-9-]+\.sql$/;
/** The runner has only a pattern of files to ignore. */
const IGNORE = '(?!\\d{4}-[a-z0-9-]+\\.sql$).*';

/** Applies what is missing; concurrent calls wait. @param options.url of the owner, not a pooler @returns their names @throws {MigrationError} */
export async function migrate(options: {
  url: string;
  variable?: string | undefined;
  dir: string;
  log: Logger;
  /** Also distributes tables over the nodes of Citus, where they are not yet. */
  distributed?: boolean | undefined;
  /** Receives a line that names the database, before anything changes. */
  announce?: (line: string) => void;
}): Promise<string[]> {
  const { dir, log, variable, distributed = false, announce } = options;
  const client = new pg.Client({
    connectionString: options.url,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    lock_timeout: LOCK_TIMEOUT_MS,
    application_name: 'koppelvlak migrate',
  });
  client.on('error', (error) => log.warn({ err: error }, 'the connection of the migrations was lost'));
  client.on('notice', ({ severity, message, hint }) => {
    if (severity === 'WARNING') log.warn({ hint }, message);
  });
  await client.connect().catch((error: unknown) => {
    throw connectionError(error, variable);
  });
  try {
    announce?.(await nameDatabase(client));
    const { pending, unknown } = await migrationState(client, dir);
    if (unknown.length > 0) throw newerDatabase(unknown);
    // Without pending migrations this needs no privileges, so that a service whose login owns nothing may call it.
    if (pending.length === 0 && !distributed) return [];
    if (pending.length > 0) await warnOfConnected(client, log);
    const { runner } = await import('node-pg-migrate');
    const applied = await runner({
      dbClient: client,
      dir,
      ignorePattern: IGNORE,
      direction: 'up',
      migrationsSchema: SCHEMA,
      createMigrationsSchema: true,
      migrationsTable: TABLE,
      advisoryLockMode: 'wait',
      logger: {
        info: (message) => log.debug(message),
        warn: (message) => log.warn(message),
        error: (message) => log.debug(message),
      },
    });
    const names = applied.map(({ name }) => name);
    if (names.length > 0) log.info({ migrations: names }, 'database migrated');
    if (distributed) await distribute(client, join(dir, DISTRIBUTED));
    return names;
  } catch (error) {
    throw error instanceof MigrationError ? error : explain(error, client);
  } finally {
    await client.end();
  }
}

async function warnOfConnected(client: pg.Client, log: Logger): Promise<void> {
  // The application of another login is only visible with `pg_read_all_stats`.
  const { rows } = await client.query<{ login: string; connections: number; isKnown: boolean }>(
    `select usename as login, count(*)::int as connections, application_name is not null as "isKnown"
     from pg_stat_activity
     where datname = current_database() and pid <> pg_backend_pid() and usename is not null
       and coalesce(application_name = 'koppelvlak service', usename <> current_user)
     group by 1, 3 order by 1`,
  );
  for (const { login, connections, isKnown } of rows) {
    log.warn(
      { login, connections },
      isKnown
        ? 'instances of an older version are connected: restart them with this one'
        : 'connections of another login are open: if they belong to an older version, restart it with this one',
    );
  }
}

async function distribute(client: pg.Client, dir: string): Promise<void> {
  for (const name of (await readdir(dir)).filter((file) => file.endsWith('.sql')).sort()) {
    await client.query(`begin; ${await readFile(join(dir, name), 'utf8')}; commit`);
  }
}

/** Migrations that the database lacks (`pending`), and those in the database that this program does not know (`unknown`: the database is newer). */
export async function migrationState(db: Db, dir: string): Promise<{ pending: string[]; unknown: string[] }> {
  const files = await migrationFiles(dir);
  const applied = await appliedMigrations(db);
  return {
    pending: files.filter((name) => !applied.includes(name)),
    unknown: applied.filter((name) => !files.includes(name)),
  };
}

async function migrationFiles(dir: string): Promise<string[]> {
  const names = await readdir(dir);
  return names
    .filter((name) => FILE.test(name))
    .map((name) => name.slice(0, -'.sql'.length))
    .sort();
}

/** @throws {MigrationError} with the remedy, when the database is behind or ahead of this program */
export async function requireMigrations(db: Db, dir: string): Promise<void> {
  const { pending, unknown } = await migrationState(db, dir);
  if (unknown.length > 0) throw newerDatabase(unknown);
  if (pending.length > 0) throw behind(pending);
}

async function appliedMigrations(db: Db): Promise<string[]> {
  try {
    const { rows } = await db.query<{ name: string }>('select name from koppelvlak.migrations order by id');
    return rows.map(({ name }) => name);
  } catch (error) {
    // No schema, no table, or no access for this role yet: the first migration grants it.
    if (error instanceof pg.DatabaseError && ['3F000', '42P01', '42501'].includes(error.code ?? '')) return [];
    throw error;
  }
}

function behind(pending: readonly string[]): MigrationError {
  const message = `the database lacks ${pending.join(', ')}. Run \`koppelvlak migrate\` first, with the owner's login`;
  return new MigrationError('BEHIND', message);
}

function newerDatabase(unknown: string[]): MigrationError {
  const message = `the database is newer than this program: it has ${unknown.join(', ')}. Start the version that made them`;
  return new MigrationError('NEWER_DATABASE', message);
}

function explain(error: unknown, { user = '', database = '' }: pg.Client): MigrationError {
  if (!(error instanceof pg.DatabaseError))
    return new MigrationError('FAILED', `migrating failed: ${String(error)}`, error);
  const hint = error.hint === undefined ? '' : `. ${error.hint}`;
  if (error.code !== '42501') return new MigrationError('FAILED', `migrating failed: ${error.message}${hint}`, error);
  const grant = `grant create on database ${pg.escapeIdentifier(database)} to ${pg.escapeIdentifier(user)};`;
  const advice =
    hint === '' ? `. Let the owner of the database migrate (DATABASE_MIGRATION_URL), or run as a DBA: ${grant}` : hint;
  return new MigrationError('NOT_ALLOWED', `the login ${user} may not migrate: ${error.message}${advice}`, error);
}
