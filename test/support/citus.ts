/** The processing log on a Citus coordinator: a setting names the cluster, and databases are created on each of its nodes. */
import process from 'node:process';
import pg from 'pg';
import { withDatabase } from './with-database.ts';

/** The setting with the coordinator's address, as superuser; its database has the extension and knows the workers. */
export const CITUS_SETTING = 'TEST_CITUS_URL';

/** Activity of all nodes' connections: `pg_stat_activity`, including the workers if there are any. */
export const ACTIVITY = process.env[CITUS_SETTING] === undefined ? 'pg_stat_activity' : 'citus_stat_activity';

/** The addresses of a cluster's nodes, the coordinator first, and the statement that registers the workers in a new database. */
interface Nodes {
  readonly urls: readonly string[];
  readonly join: string;
}

/** @param coordinator address of a database with the extension */
async function nodesOf(coordinator: string): Promise<Nodes> {
  const { rows } = await queryAt<{ name: string; port: number; groupid: number }>(
    coordinator,
    `select nodename as name, nodeport as port, groupid from pg_dist_node where noderole = 'primary' order by groupid`,
  );
  const workers = rows.filter(({ groupid }) => groupid !== 0);
  const own = rows.find(({ groupid }) => groupid === 0);
  if (own === undefined || workers.length === 0) throw new Error(`${CITUS_SETTING}: no coordinator host or no workers`);
  const urls = workers.map(({ name, port }) => {
    const url = new URL(coordinator);
    url.host = `${name}:${port}`;
    return url.href;
  });
  const literal = (name: string, port: number): string => `${pg.escapeLiteral(name)}, ${port}`;
  const adds = workers.map(({ name, port }) => `select citus_add_node(${literal(name, port)});`).join(' ');
  return {
    urls: [coordinator, ...urls],
    join: `select citus_set_coordinator_host(${literal(own.name, own.port)}); ${adds}`,
  };
}

/**
 * Creates an empty database on every node, and joins them.
 * @returns its address on the coordinator
 */
export async function createCitusDatabase(coordinator: string, name: string): Promise<string> {
  const { urls, join } = await nodesOf(coordinator);
  const url = withDatabase(coordinator, name);
  await Promise.all(urls.map((node) => queryAt(node, `create database ${name} template template0`)));
  await Promise.all(urls.map((node) => queryAt(withDatabase(node, name), 'create extension citus')));
  await queryAt(url, join);
  return url;
}

/** Blocks all connections, including the Citus daemon's: a clone needs its template undisturbed. */
export async function makeCitusTemplate(coordinator: string, name: string): Promise<void> {
  for (const node of (await nodesOf(coordinator)).urls) {
    await queryAt(node, `alter database ${name} with allow_connections false is_template true`);
    await queryAt(node, `select pg_terminate_backend(pid) from pg_stat_activity where datname = '${name}'`);
  }
}

/** A copy on every node: Citus's metadata contain no database names, so a copy is a separate cluster. */
export async function cloneCitusDatabase(coordinator: string, name: string, template: string): Promise<string> {
  const { urls } = await nodesOf(coordinator);
  await Promise.all(
    urls.map((node) => queryAt(node, `create database ${name} template ${template} strategy file_copy`)),
  );
  return withDatabase(coordinator, name);
}

export async function dropCitusDatabase(coordinator: string, name: string): Promise<void> {
  const { urls } = await nodesOf(coordinator);
  for (const node of urls) await queryAt(node, `alter database ${name} with is_template false`).catch(() => undefined);
  await Promise.all(urls.map((node) => queryAt(node, `drop database if exists ${name} with (force)`)));
}

/**
 * Lets the coordinator use the workers as the roles of the program, as docs/citus.md prescribes for the administrator. Also on the
 * coordinator itself, because an added node gets its roles.
 */
export async function allowRolesOnNodes(coordinator: string): Promise<void> {
  for (const node of (await nodesOf(coordinator)).urls) {
    await queryAt(
      node,
      `set citus.enable_alter_role_propagation = off;
       alter role koppelvlak_dienst login; alter role koppelvlak_opschoner login`,
    );
  }
}

async function queryAt<R extends pg.QueryResultRow>(url: string, text: string): Promise<pg.QueryResult<R>> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return await client.query<R>(text);
  } finally {
    await client.end();
  }
}
