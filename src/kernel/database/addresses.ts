/** Addresses of Postgres with several hosts, as libpq has them; `pg` knows only one. Pure: what the settings are checked with. */
import pg from 'pg';
import { reasonOf } from '../log.ts';
import { DatabaseUnavailableError } from './database-unavailable.ts';

/** Which host will do, in libpq's words. */
const SESSION_ATTRIBUTES = ['any', 'read-write', 'read-only', 'primary', 'standby', 'prefer-standby'] as const;
type SessionAttributes = (typeof SESSION_ATTRIBUTES)[number];

interface Addresses {
  /** The same address, once for each host, in their order; at least one. */
  readonly urls: readonly [string, ...string[]];
  readonly wanted: SessionAttributes;
}

const PARTS = /^(postgres(?:ql)?:\/\/)([^/?#]*@)?([^/?#]*)([^?#]*)(?:\?([^#]*))?$/;

/**
 * Takes an address apart: `postgres://u:p@h1:5432,h2:5432/db?target_session_attrs=read-write`, or with the hosts as
 * `?host=/run/a,/run/b`.
 * @throws {Error} when it has another form; the message does not repeat the address, which may hold a password
 * @see https://www.postgresql.org/docs/current/libpq-connect.html#LIBPQ-CONNSTRING-URIS
 */
export function readAddresses(url: string): Addresses {
  const [, scheme = '', login = '', authority = '', path = '', search = ''] = PARTS.exec(url) ?? [];
  if (scheme === '') throw new Error('is not an address');
  const query = new URLSearchParams(search);
  const wanted = SESSION_ATTRIBUTES.find((word) => word === (query.get('target_session_attrs') ?? 'any'));
  if (wanted === undefined) throw new Error('has another target_session_attrs');
  const inQuery = query.get('host')?.split(',');
  const ports = query.get('port')?.split(',') ?? [];
  const hosts = authority.split(',');
  const [first, ...others] = (inQuery ?? hosts).map((host, i) => {
    if (!query.has('target_session_attrs') && (inQuery ?? hosts).length === 1) return url;
    const own = new URLSearchParams(query);
    own.delete('target_session_attrs');
    if (inQuery !== undefined) own.set('host', host);
    const port = ports[i] ?? ports[0];
    if (port !== undefined) own.set('port', port);
    const rest = own.size === 0 ? '' : `?${own.toString().replaceAll('+', '%20')}`;
    return `${scheme}${login}${inQuery === undefined ? host : authority}${path}${rest}`;
  });
  if (first === undefined) throw new Error('has no host');
  const urls: Addresses['urls'] = [first, ...others];
  // Without a host in front of the path, as for a socket, no URL is valid with a login.
  if (!urls.every((one) => URL.canParse(one.replace('@/', '@host/')))) throw new Error('is not an address');
  return { urls, wanted };
}

/** Server settings that a connection starts with. */
interface SessionSettings {
  readonly statementTimeoutMs: number;
  /** The role to act as; the login must be a member. */
  readonly role?: string | undefined;
}

/**
 * Puts settings in the `options` of an address. What the address itself asks for stays; ours come later and win. They must be in
 * the address: pg lets an address override what is given beside it.
 */
export function withSessionSettings(url: string, settings: SessionSettings): string {
  const start = url.indexOf('?');
  const query = new URLSearchParams(start === -1 ? '' : url.slice(start + 1));
  const { statementTimeoutMs, role } = settings;
  if (role !== undefined && !/^[a-z_][a-z0-9_]{0,62}$/.test(role))
    throw new TypeError(`not the name of a role: ${role}`);
  const ours = [
    `-c statement_timeout=${statementTimeoutMs}`,
    // Nothing waits between the statements of a transaction but code: a longer pause is a client that hangs.
    `-c idle_in_transaction_session_timeout=${statementTimeoutMs === 0 ? 0 : Math.max(statementTimeoutMs, 10_000)}`,
    // Compiling a statement pays after a second of running; where it is on, a guess too high makes a page take a second.
    '-c jit=off',
    ...(role === undefined ? [] : [`-c role=${role}`]),
  ];
  query.set('options', [query.get('options') ?? '', ...ours].join(' ').trim());
  return `${start === -1 ? url : url.slice(0, start)}?${query.toString().replaceAll('+', '%20')}`;
}

/** The hosts of one address, and which of them is used. */
export interface Hosts {
  /** The address with the host that is used now. */
  readonly current: () => string;
  /**
   * Looks at all hosts for one that is as asked, and uses it from now on. Callers at the same time share one look. With one host
   * there is nothing to look for.
   * @throws {DatabaseUnavailableError}
   */
  readonly find: () => Promise<string>;
  /** Throws {DatabaseUnavailableError} unless the host at the other end of a new connection is as asked: it may have changed its role. */
  readonly check: (client: pg.ClientBase) => Promise<void>;
  /** Whether there is another host to look for when one fails. */
  readonly several: boolean;
}

/** What a host says of itself. */
interface Role {
  readonly standby: boolean;
  readonly readOnly: boolean;
}

const ROLE = `select pg_is_in_recovery() as standby, current_setting('transaction_read_only') = 'on' as "readOnly"`;

const SUITS: Readonly<Record<Addresses['wanted'], (role: Role) => boolean>> = {
  any: () => true,
  'read-write': ({ readOnly }) => !readOnly,
  'read-only': ({ readOnly }) => readOnly,
  primary: ({ standby }) => !standby,
  standby: ({ standby }) => standby,
  'prefer-standby': () => true,
};

/** Opens an address that may name several hosts. Nothing connects yet. */
export function openHosts(url: string, connectTimeoutMs: number): Hosts {
  const { urls, wanted } = readAddresses(url);
  const several = urls.length > 1;
  let current = urls[0];
  let looking: Promise<string> | undefined;

  const look = async (): Promise<string> => {
    const roles = urls.map(async (one) => ({ one, role: await askRole(one, connectTimeoutMs) }));
    const those = (suits: (role: Role) => boolean): Promise<string>[] =>
      roles.map(async (asked) => {
        const { one, role } = await asked;
        if (suits(role)) return one;
        throw new DatabaseUnavailableError(
          `the host is ${role.standby ? 'a standby' : role.readOnly ? 'read-only' : 'a primary'}`,
        );
      });
    try {
      if (wanted === 'prefer-standby') {
        current = await Promise.any(those(({ standby }) => standby)).catch(() => Promise.any(those(() => true)));
      } else current = await Promise.any(those(SUITS[wanted]));
      return current;
    } catch (error) {
      const reasons = error instanceof AggregateError ? error.errors.map(reasonOf) : [reasonOf(error)];
      throw new DatabaseUnavailableError(
        `none of the ${urls.length} hosts is ${wordsFor(wanted)}: ${reasons.join('; ')}`,
        {
          cause: error,
        },
      );
    }
  };

  return {
    current: () => current,
    find: () => {
      if (!several) return Promise.resolve(current);
      looking ??= look().finally(() => {
        looking = undefined;
      });
      return looking;
    },
    check: async (client) => {
      if (wanted === 'any' || wanted === 'prefer-standby') return;
      const { rows } = await client.query<Role>(ROLE);
      if (rows[0] === undefined || !SUITS[wanted](rows[0])) {
        throw new DatabaseUnavailableError(`the host of the database is not ${wordsFor(wanted)}`);
      }
    },
    several,
  };
}

/** The address to connect to, once, for who makes a single connection. @throws {DatabaseUnavailableError} */
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
  // Who loses the race is not listened to any more.
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

function wordsFor(wanted: Addresses['wanted']): string {
  return wanted === 'any' || wanted === 'prefer-standby' ? 'reachable' : wanted;
}
