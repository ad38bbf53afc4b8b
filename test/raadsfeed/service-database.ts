import { afterAll, beforeAll } from 'vitest';
import type { Pool } from '../../src/database/pool.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { servicePool } from './support.ts';

/** The pool of the running test file, on its own database. */
export let pool: Pool;

/** Gives a test file a database and a pool like the service's. */
export function serviceDatabase(): void {
  let database: TestDatabase | undefined;
  beforeAll(async () => {
    database = await createDatabase();
    pool = servicePool(database.url);
  });
  afterAll(async () => {
    await pool.end();
    await database?.drop();
  });
}
