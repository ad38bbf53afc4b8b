/** Postgres addresses with several hosts, as in libpq, and the choice among those hosts; `pg` itself knows one. */
import pg from 'pg';
import { reasonOf } from '../lib/log.ts';
import { type Addresses, readAddresses } from '../lib/postgres-address.ts';
import { shareRuns } from '../lib/scheduling.ts';
import { DatabaseUnavailableError } from './database-unavailable.ts';

interface SessionSettings {
  readonly statementTimeoutMs: number;
  /** The role to act as; the login must be a member. */
  readonly role?: string | undefined;
}

/**
 * Adds settings to the `options` of an address. Those of the address itself stay; ours come later and win. They must be in the address,
 * because in `pg` an address overrides other options.
 */
export function withSessionSettings(url: string, settings: SessionSettings): string {
  const start = url.indexOf('?');
  const query = new URLSearchParams(start === -1 ? '' : url.slice(start + 1));
  const { statementTimeoutMs, role } = settings;
  if (role !== undefined && !/^[a-z_][a-z0-9_]{0,62}$/.test(role))
    throw new TypeError(`not the name of a role: ${role}`);
  const ours = [
    `-c statement_timeout=${statementTimeoutMs}`,
    // A longer pause between the statements of a transaction is a client that hangs.
    `-c idle_in_transaction_session_timeout=${statementTimeoutMs === 0 ? 0 : Math.max(statementTimeoutMs, 10_000)}`,
    // What runs for a client that has gone is ended, soon: until then it runs beside what took its place in the pool.
    '-c client_connection_check_interval=100ms',
    // Compiling pays only for statements of a second or more; a wrong estimate would make a page take a second.
    '-c jit=off',
    ...(role === undefined ? [] : [`-c role=${role}`]),
  ];
  query.set('options', [query.get('options') ?? '', ...ours].join(' ').trim());
  return `${start === -1 ? url : url.slice(0, start)}?${query.toString().replaceAll('+', '%20')}`;
}

/** The hosts of one address, and which is in use. */
export interface Hosts {
  /** The address of the host in use. */
  readonly current: () => string;
  /**
   * Asks all hosts at once and uses the first that qualifies from now on. Concurrent callers share one search. With a single host there is
   * nothing to search.
   * @throws {DatabaseUnavailableError}
   */
  readonly find: () => Promise<string>;
  /** Checks that the host of a new connection still qualifies. @throws {DatabaseUnavailableError} */
  readonly check: (client: pg.ClientBase) => Promise<void>;
  /** Whether there is more than one host. */
  readonly several: boolean;
}

/** What a host says about itself. */
interface Role {
  readonly standby: boolean;
  readonly readOnly: boolean;
}

const ROLE = `select pg_is_in_recovery() as standby, current_setting('transaction_read_only') = 'on' as "readOnly"`;

const QUALIFIES: Readonly<Record<Addresses['wanted'], (role: Role) => boolean>> = {
  any: () => true,
  'read-write': ({ readOnly }) => !readOnly,
  'read-only': ({ readOnly }) => readOnly,
  primary: ({ standby }) => !standby,
  standby: ({ standby }) => standby,
};

/** Opens an address that may name several hosts. Nothing connects yet. */
export function openHosts(url: string, connectTimeoutMs: number): Hosts {
  const { urls, wanted } = readAddresses(url);
  const several = urls.length > 1;
  const wantedWord = wanted === 'any' ? 'reachable' : wanted;
  let current = urls[0];

  const searching = shareRuns(async (): Promise<string> => {
    const qualifying = urls.map(async (one) => {
      const role = await askRole(one, connectTimeoutMs);
      if (QUALIFIES[wanted](role)) return one;
      const what = role.standby ? 'a standby' : role.readOnly ? 'read-only' : 'a primary';
      throw new DatabaseUnavailableError(`the host is ${what}`);
    });
    try {
      current = await Promise.any(qualifying);
      return current;
    } catch (error) {
      const reasons = error instanceof AggregateError ? error.errors.map(reasonOf) : [reasonOf(error)];
      throw new DatabaseUnavailableError(`none of the ${urls.length} hosts is ${wantedWord}: ${reasons.join('; ')}`, {
        cause: error,
      });
    }
  });

  return {
    current: () => current,
    find: () => (several ? searching.run() : Promise.resolve(current)),
    check: async (client) => {
      if (wanted === 'any') return;
      const { rows } = await client.query<Role>(ROLE);
      if (rows[0] === undefined || !QUALIFIES[wanted](rows[0])) {
        throw new DatabaseUnavailableError(`the host of the database is not ${wantedWord}`);
      }
    },
    several,
  };
}

/** The address for a single connection. @throws {DatabaseUnavailableError} */
export function findHost(url: string, connectTimeoutMs: number): Promise<string> {
  return openHosts(url, connectTimeoutMs).find();
}

async function askRole(url: string, connectTimeoutMs: number): Promise<Role> {
  const client = new pg.Client({
    connectionString: url,
    connectionTimeoutMillis: connectTimeoutMs,
    query_timeout: connectTimeoutMs,
    application_name: 'koppelvlak find host',
  });
  // The losers of the race are ignored.
  client.on('error', () => undefined);
  try {
    await client.connect();
    const { rows } = await client.query<Role>(ROLE);
    const [role] = rows;
    if (role === undefined) throw new DatabaseUnavailableError('the host does not say what it is');
    return role;
  } finally {
    client.end().catch(() => undefined);
  }
}
