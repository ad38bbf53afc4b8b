/** Files of the database that belong to no relation: a crash of Postgres within a rewrite leaves the copy, and Postgres never removes it. */
import pg from 'pg';
import { findHost } from '../../database/addresses.ts';

const CONNECT_TIMEOUT_MS = 10_000;

export interface OrphanFile {
  /** Below the data directory of the server. */
  readonly path: string;
  readonly bytes: number;
}

/**
 * Finds the files in the database's directory that hold something and belong to no relation. No rewrite of ours runs meanwhile.
 * @param ownerUrl of the database's owner, who may list files
 * @throws {Error} that says what to grant when he may not
 */
export async function findOrphanFiles(ownerUrl: string): Promise<OrphanFile[]> {
  const client = new pg.Client({
    connectionString: await findHost(ownerUrl, CONNECT_TIMEOUT_MS),
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    application_name: 'koppelvlak feed verify',
  });
  await client.connect();
  try {
    // The locks of `rewrite_text_partition` and `rewrite_content_table`: their copies belong to no relation that others see.
    await client.query('select pg_advisory_lock(4001, 0), pg_advisory_lock(4001, 1)');
    const listed = await client.query<{ path: string; node: string }>(
      `select 'base/' || d.oid || '/' || f.name as path, substring(f.name from '^\\d+') as node
         from pg_database d, pg_ls_dir('base/' || d.oid) f (name)
        where d.datname = current_database() and f.name ~ '^\\d+'`,
    );
    // After the list, so that what was created meanwhile is not in it; and the sizes last: a file that was replaced meanwhile is empty or gone.
    const { rows } = await client.query<{ path: string; bytes: string }>(
      `select f.path, s.size as bytes
         from unnest($1::text[], $2::oid[]) as f (path, node), pg_stat_file(f.path, true) s
        where s.size > 0 and f.node not in (select pg_relation_filenode(oid) from pg_class where pg_relation_filenode(oid) is not null)
        order by 1`,
      [listed.rows.map(({ path }) => path), listed.rows.map(({ node }) => node)],
    );
    return rows.map(({ path, bytes }) => ({ path, bytes: Number(bytes) }));
  } catch (error) {
    if (!(error instanceof pg.DatabaseError) || error.code !== '42501') throw error;
    const login = client.user ?? 'the owner';
    throw new Error(
      `${login} may not list the files of the server. As superuser: grant execute on function pg_ls_dir(text), pg_stat_file(text, boolean) to "${login}"`,
      { cause: error },
    );
  } finally {
    await client.end();
  }
}
