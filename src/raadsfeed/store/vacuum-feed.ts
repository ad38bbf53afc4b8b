import pg from 'pg';

/** Removes what updates and deletes left behind in the tables that hold no content. @param ownerUrl of the database's owner */
export async function vacuumFeed(ownerUrl: string): Promise<void> {
  const client = new pg.Client({ connectionString: ownerUrl, application_name: 'koppelvlak feed vacuum' });
  await client.connect();
  try {
    await client.query('vacuum raadsfeed.record, raadsfeed.stand, raadsfeed.tekst');
  } finally {
    await client.end();
  }
}
