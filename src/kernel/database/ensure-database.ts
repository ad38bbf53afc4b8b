import pg from 'pg';
import { EMBEDDED_NAME, socketUrl } from './socket-url.ts';

/** Makes the database of the embedded Postgres unless it is there; only its starter does, so nobody does it at the same time. */
export async function ensureDatabase(socketDir: string): Promise<void> {
  const client = new pg.Client({
    connectionString: socketUrl(socketDir, 'postgres'),
    connectionTimeoutMillis: 30_000,
    query_timeout: 60_000,
  });
  await client.connect();
  try {
    const { rowCount } = await client.query('select from pg_database where datname = $1::text', [EMBEDDED_NAME]);
    if (rowCount === 0) await client.query(`create database ${EMBEDDED_NAME}`);
  } finally {
    await client.end();
  }
}
