/** Work on database files after a redaction that requires the owner of the database. */
import pg from 'pg';
import { columns } from './state.ts';

const CONNECT_TIMEOUT_MS = 10_000;

async function asOwner<T>(ownerUrl: string, name: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({
    connectionString: ownerUrl,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    application_name: `koppelvlak ${name}`,
  });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

/** Removes the remains of updates and deletes in tables without content. */
export async function vacuumFeed(ownerUrl: string): Promise<void> {
  const statement = 'vacuum raadsfeed.records, raadsfeed.current_records, raadsfeed.texts';
  await asOwner(ownerUrl, 'feed vacuum', (client) => client.query(statement));
}

/**
 * Finds non-empty files in the database's directory that belong to no relation: a crash of Postgres during a rewrite leaves the copy, and Postgres
 * never removes it. The service rewrites nothing meanwhile. Paths are below the data directory of the server.
 * @throws {Error} with the required grant when one is missing
 */
export function findOrphanFiles(ownerUrl: string) {
  return asOwner(ownerUrl, 'feed verify', async (client) => {
    try {
      return await listOrphanFiles(client);
    } catch (error) {
      if (!(error instanceof pg.DatabaseError) || error.code !== '42501') throw error;
      const login = client.user ?? 'the owner';
      throw new Error(
        `${login} may not list the files of the server. As superuser: grant execute on function pg_ls_dir(text), pg_stat_file(text, boolean) to "${login}"`,
        { cause: error },
      );
    }
  });
}

async function listOrphanFiles(client: pg.Client) {
  // The locks of `rewrite_text_partition` and `rewrite_content_table`: their copies belong to no visible relation.
  await client.query('select pg_advisory_lock(4001, 0), pg_advisory_lock(4001, 1)');
  const listed = await client.query<{ path: string; node: string }>(
    `select 'base/' || d.oid || '/' || f.name as path, substring(f.name from '^\\d+') as node
       from pg_database d, pg_ls_dir('base/' || d.oid) f (name)
      where d.datname = current_database() and f.name ~ '^\\d+'`,
  );
  // After the list, so that newly created files are not in it; and the sizes last: a file replaced meanwhile is empty or gone.
  const { rows } = await client.query<{ path: string; bytes: number }>(
    `select f.path, s.size::double precision as bytes
       from unnest($1::text[], $2::oid[]) as f (path, node), pg_stat_file(f.path, true) s
      where s.size > 0 and f.node not in (select pg_relation_filenode(oid) from pg_class where pg_relation_filenode(oid) is not null)
      order by 1`,
    columns(listed.rows, 'path', 'node'),
  );
  return rows;
}
