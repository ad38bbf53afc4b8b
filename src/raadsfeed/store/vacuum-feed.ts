import pg from 'pg';
import { findHost } from '../../kernel/database/addresses.ts';

const CONNECT_TIMEOUT_MS = 10_000;

/** Removes what updates and deletes left behind in the tables that hold no content. @param ownerUrl of the database's owner */
export async function vacuumFeed(ownerUrl: string): Promise<void> {
  const client = new pg.Client({
    connectionString: await findHost(ownerUrl, CONNECT_TIMEOUT_MS),
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    application_name: 'koppelvlak feed vacuum',
  });
  await client.connect();
  try {
    await client.query('vacuum raadsfeed.record, raadsfeed.stand, raadsfeed.tekst');
  } finally {
    await client.end();
  }
}
