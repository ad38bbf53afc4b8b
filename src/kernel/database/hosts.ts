import pg from 'pg';
import { reasonOf } from '../error-text.ts';
import { type Addresses, readAddresses } from './addresses.ts';
import { DatabaseUnavailableError } from './database-unavailable.ts';

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
