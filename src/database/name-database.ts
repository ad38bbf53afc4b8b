import type { Db } from './transaction.ts';

export async function nameDatabase(db: Db): Promise<string> {
  const { rows } = await db.query<{ name: string; login: string; server: string | null }>(
    `select current_database() as name, session_user as login, host(inet_server_addr()) || ':' || inet_server_port() as server`,
  );
  return rows
    .map(({ name, login, server }) => `Database ${name} on ${server ?? 'this machine'}, as ${login}.\n`)
    .join('');
}
