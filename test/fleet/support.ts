import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { inject } from 'vitest';
import { withDatabase } from '../../src/embedded-postgres/data-directory.ts';

/** The password of every login of these tests: it must appear nowhere. */
export const SECRET = 'Geheim-Wachtwoord-4711';

/** An administrator who is no superuser, and names that no other test has. */
export interface FleetServer {
  readonly adminUrl: string;
  /** Address of a database, with a login. */
  url(database: string, login: string): string;
  /** The three addresses of an organisation. */
  addresses(database: string): Record<string, string>;
  /** A name for an organisation and its database. */
  name(number: number | string): string;
  /** A copy of one organisation's database for another one, whose owner has all of it. */
  clone(from: string, to: string): Promise<void>;
  /** As superuser. */
  query(statement: string): Promise<pg.QueryResult>;
  /** Throws away all databases and logins. */
  close(): Promise<void>;
}

export async function startFleetServer(): Promise<FleetServer> {
  const server = inject('databaseServer');
  const prefix = `vloot_${randomBytes(4).toString('hex')}`;
  const superuser = new pg.Client({ connectionString: server });
  await superuser.connect();
  const admin = `${prefix}_beheerder`;
  await superuser.query(`create role ${admin} login createrole createdb`);
  await superuser.query(`grant koppelvlak_dienst, koppelvlak_opschoner to ${admin} with admin option`);
  const url = (database: string, login: string): string => {
    const address = new URL(withDatabase(server, database));
    const host = address.searchParams.get('host') ?? '';
    return `postgres://${login}:${SECRET}@/${database}?host=${encodeURIComponent(host)}`;
  };
  return {
    adminUrl: url('postgres', admin),
    url,
    addresses: (database) => ({
      DATABASE_URL: url(database, `${database}_dienst`),
      DATABASE_MIGRATION_URL: url(database, `${database}_eigenaar`),
      DATABASE_PRUNE_URL: url(database, `${database}_opschoner`),
    }),
    name: (number) => `${prefix}_${number}`,
    async clone(from, to) {
      await superuser.query(`set role ${admin}; create role ${to}_eigenaar login; reset role`);
      await superuser.query(`create database ${to} template ${from} strategy file_copy owner ${to}_eigenaar`);
      const copy = new pg.Client({ connectionString: withDatabase(server, to) });
      await copy.connect();
      await copy.query(`reassign owned by ${from}_eigenaar to ${to}_eigenaar`);
      await copy.end();
      // That goes for databases too.
      await superuser.query(`alter database ${from} owner to ${from}_eigenaar`);
    },
    query: (statement) => superuser.query(statement),
    async close() {
      const named = async (list: string): Promise<string[]> =>
        (await superuser.query<{ name: string }>(list, [`${prefix}_%`])).rows.map(({ name }) => name);
      for (const name of await named('select datname as name from pg_database where datname like $1'))
        await superuser.query(`drop database ${name} with (force)`);
      // The administrator last: he gave the others their membership.
      const roles = await named('select rolname as name from pg_roles where rolname like $1 order by oid desc');
      for (const name of roles) {
        await superuser.query(`drop owned by ${name} cascade`);
        await superuser.query(`drop role ${name}`);
      }
      await superuser.end();
    },
  };
}
