/** Makes the database and the logins of an organisation, as deploy/sql/roles.sql does for one by hand. */
import { createHmac, hash, pbkdf2Sync, randomBytes } from 'node:crypto';
import pg from 'pg';
import type { Config } from '../kernel/config/read-config.ts';
import { findHost, readAddresses } from '../kernel/database/addresses.ts';
import { connectionError } from '../kernel/database/database-unavailable.ts';
import { FleetError, type Login, loginIn } from './organisations.ts';

/** What the program works as; nobody logs in with these. */
const GROUPS = ['koppelvlak_dienst', 'koppelvlak_opschoner'] as const;
const CONNECT_TIMEOUT_MS = 10_000;
/** A name that was taken meanwhile: another organisation makes the same groups at this moment. */
const TAKEN = ['42710', '23505'];

interface Logins {
  readonly owner: Login;
  readonly service: Login;
  readonly retention: Login;
}

/**
 * Makes what is missing, from the administrator's connection: groups, three logins, the database with its grants. Again is harmless: logins
 * get the password of the settings, and nothing is taken away. What exists and belongs to somebody else is refused.
 * @param adminUrl login that may create roles and databases on the organisation's server
 * @returns what was made, by name
 * @throws {FleetError} when settings are missing or do not fit together, or something is somebody else's
 */
export async function provision({ database }: Config, adminUrl: string): Promise<string[]> {
  const logins = readLogins(database);
  const made: string[] = [];
  const admin = await connect(adminUrl, 'DATABASE_ADMIN_URL');
  try {
    for (const group of GROUPS) {
      if (await createRole(admin, group, 'nologin')) made.push(group);
    }
    for (const [login, group] of [
      [logins.owner, undefined],
      [logins.service, GROUPS[0]],
      [logins.retention, GROUPS[1]],
    ] as const) {
      if (await ensureLogin(admin, login)) made.push(login.user);
      if (group !== undefined) await admin.query(`grant ${group} to ${pg.escapeIdentifier(login.user)}`);
    }
    if (await ensureDatabase(admin, logins)) made.push(logins.owner.database);
  } finally {
    await admin.end();
  }
  // That the administrator's address leads to another server shows here.
  for (const variable of ['migrationUrl', 'url', 'pruneUrl'] as const) {
    const client = await connect(database[variable] ?? '', VARIABLES[variable]);
    await client.end();
  }
  return made;
}

const VARIABLES = {
  url: 'DATABASE_URL',
  migrationUrl: 'DATABASE_MIGRATION_URL',
  pruneUrl: 'DATABASE_PRUNE_URL',
} as const;

function readLogins({ url, migrationUrl, pruneUrl }: Config['database']): Logins {
  if (url === undefined || migrationUrl === undefined || pruneUrl === undefined)
    throw new FleetError(`${Object.values(VARIABLES).join(', ')} are all needed: a login for each`);
  const logins = { owner: loginIn(migrationUrl), service: loginIn(url), retention: loginIn(pruneUrl) };
  const all = Object.values(logins);
  if (new Set(all.map(({ user }) => user)).size < all.length)
    throw new FleetError('the owner, the service and the retention need logins of their own');
  if (new Set(all.map(({ server, database }) => `${server}/${database}`)).size > 1)
    throw new FleetError('the addresses of the owner, the service and the retention name different databases');
  for (const { user, password } of all) {
    // Such a password would have to be normalised as every client does it (SASLprep).
    if (password !== undefined && !/^[\x20-\x7e]+$/.test(password))
      throw new FleetError(`the password of ${user} has letters outside ASCII`);
  }
  return logins;
}

async function connect(url: string, variable: string): Promise<pg.Client> {
  try {
    const connectionString = readAddresses(url).urls.length === 1 ? url : await findHost(url, CONNECT_TIMEOUT_MS);
    const client = new pg.Client({
      connectionString,
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
      application_name: 'koppelvlak fleet',
    });
    // Noticed by the statement that runs.
    client.on('error', () => undefined);
    await client.connect();
    return client;
  } catch (error) {
    throw connectionError(error, variable);
  }
}

/** @returns whether it was missing */
async function createRole(admin: pg.Client, name: string, attributes: string): Promise<boolean> {
  const { rowCount } = await admin.query('select from pg_roles where rolname = $1', [name]);
  if (rowCount !== 0) return false;
  try {
    await admin.query(`create role ${pg.escapeIdentifier(name)} ${attributes}`);
    return true;
  } catch (error) {
    if (hasState(error, TAKEN)) return false;
    throw error;
  }
}

/** A login that has more rights than these is somebody's: its password is not ours to set. */
async function ensureLogin(admin: pg.Client, { user, password }: Login): Promise<boolean> {
  const { rows } = await admin.query<{ mighty: boolean }>(
    `select rolsuper or rolcreaterole or rolcreatedb or rolreplication or rolbypassrls or rolname = current_user as mighty
       from pg_roles where rolname = $1`,
    [user],
  );
  if (rows[0]?.mighty === true)
    throw new FleetError(`the login ${user} exists and has rights that no organisation's has`);
  const secret = password === undefined ? '' : ` password ${pg.escapeLiteral(scramVerifier(password))}`;
  if (rows.length === 0) return createRole(admin, user, `login${secret}`);
  await admin.query(`alter role ${pg.escapeIdentifier(user)} login${secret}`);
  return false;
}

async function ensureDatabase(admin: pg.Client, { owner, service, retention }: Logins): Promise<boolean> {
  const name = pg.escapeIdentifier(owner.database);
  const made = await createDatabase(admin, owner);
  await admin.query(`revoke all on database ${name} from public`);
  const users = [service, retention].map(({ user }) => pg.escapeIdentifier(user));
  await admin.query(`grant connect on database ${name} to ${users.join(', ')}`);
  return made;
}

async function createDatabase(admin: pg.Client, { database, user }: Login): Promise<boolean> {
  const { rows } = await admin.query<{ owner: string }>(
    'select pg_get_userbyid(datdba) as owner from pg_database where datname = $1',
    [database],
  );
  const [found] = rows;
  if (found !== undefined) {
    if (found.owner !== user) throw new FleetError(`the database ${database} exists and belongs to ${found.owner}`);
    return false;
  }
  // Who is no superuser gives away only what he could have himself; from Postgres 16 on having made the login is not enough.
  const me = await admin.query<{ rolsuper: boolean }>('select rolsuper from pg_roles where rolname = current_user');
  const owner = pg.escapeIdentifier(user);
  if (me.rows[0]?.rolsuper !== true) await admin.query(`grant ${owner} to current_user`);
  await admin.query(`create database ${pg.escapeIdentifier(database)} owner ${owner}`);
  return true;
}

function hasState(error: unknown, states: readonly string[]): boolean {
  return error instanceof pg.DatabaseError && states.includes(error.code ?? '');
}

const ITERATIONS = 4096;

/**
 * What the server keeps of a password, made here: the password itself is in no statement, and so in no log of the server.
 * @see RFC 5802 section 3 and https://www.postgresql.org/docs/current/catalog-pg-authid.html
 */
export function scramVerifier(
  password: string,
  salt: Buffer = randomBytes(16),
  iterations: number = ITERATIONS,
): string {
  const salted = pbkdf2Sync(password, salt, iterations, 32, 'sha256');
  const keyOf = (name: string): Buffer => createHmac('sha256', salted).update(name).digest();
  const stored = hash('sha256', keyOf('Client Key'), 'base64');
  return `SCRAM-SHA-256$${iterations}:${salt.toString('base64')}$${stored}:${keyOf('Server Key').toString('base64')}`;
}
