import { randomBytes } from 'node:crypto';
import process from 'node:process';
import pg from 'pg';
import { inject } from 'vitest';
import { CITUS_SETTING, cloneCitusDatabase, createCitusDatabase, dropCitusDatabase } from './citus.ts';
import { withDatabase } from './with-database.ts';

/** A database of one test file. */
export interface TestDatabase {
  /** Its address, as superuser and owner. */
  readonly url: string;
  /** Drops it, closing any remaining connections. */
  readonly drop: () => Promise<void>;
}

/**
 * A separate database for a test file, cloned from the migrated template.
 * @param options.empty without migrations
 */
export async function createDatabase(options: { empty?: boolean } = {}): Promise<TestDatabase> {
  const name = `test_${randomBytes(8).toString('hex')}`;
  const coordinator = process.env[CITUS_SETTING];
  if (coordinator !== undefined) {
    const url =
      options.empty === true
        ? await createCitusDatabase(coordinator, name)
        : await cloneCitusDatabase(coordinator, name, inject('databaseTemplate'));
    return { url, drop: () => dropCitusDatabase(coordinator, name) };
  }
  const server = inject('databaseServer');
  const template = options.empty === true ? 'template0' : inject('databaseTemplate');
  await onServer(server, `create database ${name} template ${template} strategy file_copy`);
  return { url: withDatabase(server, name), drop: () => onServer(server, `drop database ${name} with (force)`) };
}

/** The same address for another login, which needs no password. */
export function withLogin(url: string, login: string): string {
  const parsed = new URL(url);
  // For a socket the login is in the query, because such an address has no host.
  if (parsed.searchParams.has('user')) parsed.searchParams.set('user', login);
  else parsed.username = login;
  return parsed.href;
}

async function onServer(server: string, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: server });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}
