import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';
import { readIfThere } from '../support/read-if-there.ts';

/**
 * Names of the database files that contain one of the texts, after everything is written to disk. The write-ahead log is excluded: it is
 * needed for recovery and is recycled on its own.
 */
export async function filesWith(databaseUrl: string, ...texts: readonly string[]): Promise<string[]> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    await client.query('checkpoint');
    const { rows } = await client.query<{ dir: string; oid: string }>(
      `select current_setting('data_directory') as dir, oid::text from pg_database where datname = current_database()`,
    );
    const dir = join(rows[0]?.dir ?? '', 'base', rows[0]?.oid ?? '');
    // The bytes of a text as in a file, each read as one character.
    const wanted = texts.map((text) => Buffer.from(text).toString('latin1'));
    const found: string[] = [];
    for (const name of await readdir(dir)) {
      const content = await readIfThere(join(dir, name));
      if (wanted.some((text) => content.includes(text))) found.push(await nameOf(client, name));
    }
    return found;
  } finally {
    await client.end();
  }
}

async function nameOf(client: pg.Client, file: string): Promise<string> {
  const { rows } = await client.query<{ name: string | null }>(
    'select pg_filenode_relation(0, $1::oid)::text as name',
    [file.split(/[._]/)[0]],
  );
  return `${file} ${rows[0]?.name}`;
}
