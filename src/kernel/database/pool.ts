import pg from 'pg';
import type { Logger } from '../log.ts';
import { type Hosts, openHosts, withSessionSettings } from './addresses.ts';
import { connectionError, DatabaseUnavailableError, isDatabaseUnavailable } from './database-unavailable.ts';

export type Pool = pg.Pool;

export interface PoolOptions {
  /** May name several hosts, as libpq has it. */
  readonly url: string;
  /** The setting that holds the address, for errors. */
  readonly variable?: string | undefined;
  /** Most connections at the same time. */
  readonly size: number;
  /** Callers that may wait for a connection; one more is refused at once. Default 20 for each connection. */
  readonly maxWaiting?: number;
  /** Time in milliseconds to get a connection, waiting for a free one included. */
  readonly connectTimeoutMs: number;
  /** Time in milliseconds that one statement may take; 0: no limit. */
  readonly statementTimeoutMs: number;
  /**
   * `transaction`: the address is of a pooler that gives a server per transaction. Then nothing is asked of the session (role and
   * statement timeout must be set on the login) and statements are not named.
   */
  readonly pooler: 'none' | 'transaction';
  /** The role to act as, whatever the login is; not with a pooler. */
  readonly role?: string | undefined;
  /** Statements of one connection are sent without waiting for each other's answers; then neither COPY nor cursors work. */
  readonly pipeline?: boolean;
  /** Shown in `pg_stat_activity`. */
  readonly applicationName: string;
  readonly log: Logger;
}

/** More than the server's own limit: only a connection that has gone silent runs into it. */
const SILENCE_MARGIN_MS = 5000;
const IDLE_MS = 30_000;
/** After this time a connection is made anew, so that it follows a change of servers. */
const LIFETIME_SECONDS = 1800;
const WAITING_PER_CONNECTION = 20;

type ConnectCallback = Parameters<pg.Pool['connect']>[0];

/** What `pg` says when no connection came free in time, which tells nothing about the host. */
const NONE_CAME_FREE = 'timeout exceeded when trying to connect';

/** All connections are in use, and too many callers wait for one, or this one has waited too long: shed, whatever the host may be doing. */
export class PoolBusyError extends DatabaseUnavailableError {
  override readonly name = 'PoolBusyError';
}

/** A pool of connections. Nothing connects before the first use. Whoever makes it ends it. */
export function createPool(options: PoolOptions): Pool {
  const { log } = options;
  const pool = new BoundedPool(options);
  // Without the first listener an idle connection that the server closes ends the process; without the second, one in use does.
  pool.on('error', (error) => log.warn({ err: error }, 'an idle database connection was lost'));
  pool.on('connect', (client) => {
    client.on('error', (error) => log.warn({ err: error }, 'a database connection was lost'));
  });
  return pool;
}

/** Bounds how many wait, and looks for another host when the one in use cannot be connected to. */
class BoundedPool extends pg.Pool {
  readonly #hosts: Hosts;
  readonly #maxWaiting: number;
  readonly #variable: string | undefined;

  constructor(options: PoolOptions) {
    const { url, size, connectTimeoutMs, statementTimeoutMs, role } = options;
    const hosts = openHosts(url, connectTimeoutMs);
    const direct = options.pooler === 'none';
    const Client = direct ? pg.Client : UnnamedClient;
    super({
      // Asked for each connection: the host may be another one by then.
      Client: class extends Client {
        constructor(config?: pg.ClientConfig) {
          const current = hosts.current();
          const connectionString = direct ? withSessionSettings(current, { statementTimeoutMs, role }) : current;
          super({ ...config, connectionString });
        }
      },
      onConnect: (client) => hosts.check(client),
      max: size,
      connectionTimeoutMillis: connectTimeoutMs,
      ...(statementTimeoutMs === 0 ? {} : { query_timeout: statementTimeoutMs + (direct ? SILENCE_MARGIN_MS : 0) }),
      idleTimeoutMillis: IDLE_MS,
      maxLifetimeSeconds: LIFETIME_SECONDS,
      keepAlive: true,
      application_name: options.applicationName,
      types: typeParsers,
      pipeline: options.pipeline ?? false,
    });
    this.#hosts = hosts;
    this.#variable = options.variable;
    this.#maxWaiting = options.maxWaiting ?? size * WAITING_PER_CONNECTION;
  }

  override connect(): Promise<pg.PoolClient>;
  override connect(callback: ConnectCallback): void;
  override connect(callback?: ConnectCallback): Promise<pg.PoolClient> | undefined {
    const connected = this.#connect();
    if (callback === undefined) return connected;
    connected.then(
      (client) => callback(undefined, client, (release) => client.release(release)),
      (error: Error) => callback(error, undefined, () => undefined),
    );
    return undefined;
  }

  async #connect(): Promise<pg.PoolClient> {
    if (this.waitingCount >= this.#maxWaiting) {
      throw new PoolBusyError('too many callers wait for a database connection');
    }
    try {
      return await this.#connectSomewhere();
    } catch (error) {
      if (error instanceof Error && error.message === NONE_CAME_FREE) {
        throw new PoolBusyError('no database connection came free in time', { cause: error });
      }
      throw connectionError(error, this.#variable);
    }
  }

  async #connectSomewhere(): Promise<pg.PoolClient> {
    try {
      return await super.connect();
    } catch (error) {
      // Waiting in vain for a free connection says nothing of the host.
      const isBusy = error instanceof Error && error.message === NONE_CAME_FREE;
      if (isBusy || !this.#hosts.several || !isDatabaseUnavailable(error)) throw error;
      await this.#hosts.find();
      return await super.connect();
    }
  }
}

/** Types whose default reading loses or changes something, by their fixed number (`pg_type.oid`). */
const INT8 = 20;
const INT8_ARRAY: number = 1016;
const TEXT_ARRAY: number = 1009;
/** date, timestamp without time zone: a JavaScript Date would put them in this machine's time zone. */
const TEXTUAL = [1082, 1114];
const TEXTUAL_ARRAYS = [1182, 1115];

/**
 * How values of Postgres become values here: int8 a number (an error when it does not fit, never a rounded one), date and timestamp
 * their text, numeric its text, timestamptz a Date.
 */
export const typeParsers: pg.CustomTypesConfig = {
  getTypeParser(oid: number, format?: 'text' | 'binary') {
    if (format === 'binary') return pg.types.getTypeParser(oid, format);
    if (oid === INT8) return toSafeInteger;
    if (oid === INT8_ARRAY) return (text: string) => toSafeIntegers(pg.types.getTypeParser(INT8_ARRAY)(text));
    if (TEXTUAL.includes(oid)) return (text: string) => text;
    if (TEXTUAL_ARRAYS.includes(oid)) return pg.types.getTypeParser(TEXT_ARRAY);
    return pg.types.getTypeParser(oid);
  },
};

function toSafeInteger(text: string): number {
  const number = Number(text);
  if (!Number.isSafeInteger(number)) throw new RangeError(`${text} does not fit in a number; select it as text`);
  return number;
}

function toSafeIntegers(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(toSafeIntegers);
  return typeof value === 'string' ? toSafeInteger(value) : value;
}

/** A client that ignores the names of statements: behind a transaction pooler the next use may meet another server process. */
class UnnamedClient extends pg.Client {}

Object.defineProperty(UnnamedClient.prototype, 'query', {
  value(this: pg.Client, query: unknown, ...rest: unknown[]) {
    const unnamed = isNamed(query) ? { ...query, name: undefined } : query;
    return Reflect.apply(pg.Client.prototype.query, this, [unnamed, ...rest]);
  },
});

function isNamed(query: unknown): query is { name: unknown; text: string } {
  // A Submittable (COPY, cursor) must stay the object it is.
  return typeof query === 'object' && query !== null && 'name' in query && !('submit' in query);
}

/**
 * Gives `fn` a connection whose running statement is cancelled at the server when the signal fires, so that a caller who went away
 * costs nothing any more.
 * @throws the signal's reason when it fired, else what `fn` throws.
 */
export async function withAbort<T>(
  pool: Pool,
  signal: AbortSignal,
  fn: (client: pg.PoolClient) => Promise<T>,
): Promise<T> {
  signal.throwIfAborted();
  const client = await pool.connect();
  const cancellation = cancelOnAbort(client, signal);
  let isLost = false;
  try {
    signal.throwIfAborted();
    return await fn(client);
  } catch (error) {
    // On a connection that has gone silent the statement may still be running.
    isLost = isDatabaseUnavailable(error);
    throw signal.aborted ? signal.reason : error;
  } finally {
    const isCancelled = await cancellation.end();
    client.release(isCancelled || isLost);
  }
}

/**
 * Cancels what runs on a connection when the signal fires, and closes it: a late cancellation must not hit the next user's statement.
 * @returns ends that before the connection is given back, and says whether it must not be used again
 */
export function cancelOnAbort(client: pg.PoolClient, signal: AbortSignal): { readonly end: () => Promise<boolean> } {
  let cancelling: Promise<void> | undefined;
  const abort = (): void => {
    cancelling = cancelAndClose(client);
  };
  signal.addEventListener('abort', abort, { once: true });
  return {
    async end() {
      signal.removeEventListener('abort', abort);
      await cancelling;
      return cancelling !== undefined;
    },
  };
}

/** The connection is closed in any case: else `fn`, which may be between two statements, would go on. */
async function cancelAndClose(client: pg.PoolClient): Promise<void> {
  try {
    await cancelRequest(client);
  } catch {
    // The server did not take it: closing is all that is left, and the statement timeout ends what still runs there.
  } finally {
    await client.end();
  }
}

declare module 'pg' {
  interface ClientBase {
    /** What the server gave to cancel this connection's statements with. */
    readonly processID: number | null;
    readonly secretKey: number | null;
    readonly sslNegotiation: 'postgres' | 'direct';
  }
  interface Connection {
    connect(portOrPath: number | string, host?: string): void;
    cancel(processID: number, secretKey: number): void;
    requestSsl(): void;
  }
}

/** Time in milliseconds for the whole exchange. */
const TIMEOUT_MS = 5000;

/**
 * Asks the server to cancel the statement that runs on a connection; settles when the server has taken the request. It goes over a
 * connection of its own as the protocol has it (CancelRequest), because `pg_cancel_backend` is refused to a role that is not the
 * login, and means nothing through a pooler.
 * @see https://www.postgresql.org/docs/current/protocol-flow.html#PROTOCOL-FLOW-CANCELING-REQUESTS
 */
async function cancelRequest(client: pg.Client): Promise<void> {
  const { processID, secretKey, host, port, ssl, sslNegotiation } = client;
  if (processID === null || secretKey === null) return;
  const config = { ssl, sslNegotiation };
  const connection = new pg.Connection(config);
  const timer = setTimeout(() => connection.stream.destroy(new Error('no answer to the cancel request')), TIMEOUT_MS);
  try {
    await new Promise<void>((resolve, reject) => {
      const cancel = (): void => connection.cancel(processID, secretKey);
      connection.on('connect', () => {
        if (!ssl) cancel();
        else if (sslNegotiation === 'postgres') connection.requestSsl();
      });
      connection.on('sslconnect', cancel);
      connection.on('error', reject);
      connection.on('end', resolve);
      if (host.startsWith('/')) connection.connect(`${host}/.s.PGSQL.${port}`);
      else connection.connect(port, host);
    });
  } finally {
    clearTimeout(timer);
    connection.stream.destroy();
  }
}
