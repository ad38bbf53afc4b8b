/** Name of the superuser and of the database of the embedded Postgres. */
export const EMBEDDED_NAME = 'koppelvlak';

/**
 * Address of a database behind a socket directory. The user stands in the query: `postgres://user@/database` is understood
 * by psql and pg, but is no URL to the URL standard.
 */
export function socketUrl(socketDir: string, database: string = EMBEDDED_NAME): string {
  const host = socketDir.split('/').map(encodeURIComponent).join('/');
  return `postgres:///${encodeURIComponent(database)}?host=${host}&port=5432&user=${EMBEDDED_NAME}`;
}

/** The same server and login, another database. */
export function withDatabase(url: string, database: string): string {
  const parsed = new URL(url);
  parsed.pathname = `/${encodeURIComponent(database)}`;
  return parsed.href;
}
