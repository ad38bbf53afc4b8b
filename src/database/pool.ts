import process from 'node:process';
import pg, { type Connection } from 'pg';
import type { Logger } from '../lib/log.ts';
import { connectionError, DatabaseUnavailableError, isDatabaseUnavailable } from './database-unavailable.ts';

export type Pool = pg.Pool;

export interface PoolOptions {
  readonly url: string;
  readonly variable?: string | undefined;
  readonly size: number;
  /** How many callers may wait for a connection; others are refused at once. Default 20 per connection. */
  readonly maxWaiting?: number;
  /** Time in milliseconds to get a connection, waiting for a free one included. */
  readonly connectTimeoutMs: number;
  /** Time in milliseconds that one statement may take; 0: no limit. */
  readonly statementTimeoutMs: number;
  readonly idleSeconds?: number;
  /** `transaction`: the pooler cannot keep session settings (role and statement timeout must be set on the login) nor named statements. */
  readonly pooler: 'none' | 'transaction';
  /** The role to act as; not with a pooler. */
  readonly role?: string | undefined;
  /** Statements of one connection are sent without waiting for earlier answers; COPY and cursors do not work then. */
  readonly pipeline?: boolean;
  readonly applicationName: string;
  readonly log: Logger;
}

/** Added to the server's own limit, so that only a silent connection exceeds it. */
export const SILENCE_MARGIN_MS = 5000;
const IDLE_SECONDS = 30;
/** Connections are renewed after this time, to follow a change of servers. */
const LIFETIME_SECONDS = 1800;
const WAITING_PER_CONNECTION = 20;

type ConnectCallback = Parameters<pg.Pool['connect']>[0];

const NO_FREE_CONNECTION = 'timeout exceeded when trying to connect';

export function createPool(options: PoolOptions): Pool {
  const { log } = options;
  const pool = new BoundedPool(options);
  // Without these listeners, a connection that the server closes (idle, or in use) would end the process.
  pool.on('error', (error) => log.warn({ err: error }, 'an idle database connection was lost'));
  pool.on('connect', (client) => {
    client.on('error', (error) => log.warn({ err: error }, 'a database connection was lost'));
  });
  return pool;
}

class BoundedPool extends pg.Pool {
  readonly #maxWaiting: number;
  readonly #variable: string | undefined;

  constructor(options: PoolOptions) {
    const { url, size, connectTimeoutMs, statementTimeoutMs } = options;
    const direct = options.pooler === 'none';
    const Client = direct ? (options.pipeline === true ? PipelinedClient : pg.Client) : UnnamedClient;
    super({
      Client,
      connectionString: direct ? withSessionSettings(url, options) : url,
      max: size,
      connectionTimeoutMillis: connectTimeoutMs,
      ...(statementTimeoutMs === 0 ? {} : { query_timeout: statementTimeoutMs + (direct ? SILENCE_MARGIN_MS : 0) }),
      idleTimeoutMillis: (options.idleSeconds ?? IDLE_SECONDS) * 1000,
      maxLifetimeSeconds: LIFETIME_SECONDS,
      keepAlive: true,
      application_name: options.applicationName,
      types: typeParsers,
      pipeline: options.pipeline ?? false,
    });
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
      throw new DatabaseUnavailableError('pool-busy', 'too many callers wait for a database connection');
    }
    try {
      return await super.connect();
    } catch (error) {
      if (error instanceof Error && error.message === NO_FREE_CONNECTION) {
        throw new DatabaseUnavailableError('pool-busy', 'no database connection came free in time', { cause: error });
      }
      throw connectionError(error, this.#variable);
    }
  }
}

/** Adds settings to the `options` of an address, after its own. Elsewhere they would not count: in `pg` an address overrides other options. */
function withSessionSettings(url: string, { statementTimeoutMs, role }: PoolOptions): string {
  const start = url.indexOf('?');
  const query = new URLSearchParams(start === -1 ? '' : url.slice(start + 1));
  if (role !== undefined && !/^[a-z_][a-z0-9_]{0,62}$/.test(role))
    throw new TypeError(`not the name of a role: ${role}`);
  const ours = [
    `-c statement_timeout=${statementTimeoutMs}`,
    // A longer pause between the statements of a transaction means that its client hangs.
    `-c idle_in_transaction_session_timeout=${statementTimeoutMs === 0 ? 0 : Math.max(statementTimeoutMs, 10_000)}`,
    // A statement whose client has gone ends soon; until then it runs beside the replacement connection.
    '-c client_connection_check_interval=100ms',
    // Compiling pays off only for statements of a second or more; a wrong estimate would make a page take a second.
    '-c jit=off',
    ...(role === undefined ? [] : [`-c role=${role}`]),
  ];
  query.set('options', [query.get('options') ?? '', ...ours].join(' ').trim());
  return `${start === -1 ? url : url.slice(0, start)}?${query.toString().replaceAll('+', '%20')}`;
}

/** Types whose default parsing loses or changes something, by `pg_type.oid`. */
const INT8 = 20;
const INT8_ARRAY: number = 1016;
const TEXT_ARRAY: number = 1009;
/** date, timestamp without time zone: a JavaScript Date would put them in this machine's time zone. */
const TEXTUAL = [1082, 1114];
const TEXTUAL_ARRAYS = [1182, 1115];

/** Int8 becomes a number (an error when it does not fit), timestamptz a Date; date, timestamp and numeric keep their text. */
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

/** A client that sends the statements of one turn together: each write to the socket is a system call. */
class PipelinedClient extends pg.Client {}

Object.defineProperty(PipelinedClient.prototype, 'query', {
  value(this: pg.Client, ...query: unknown[]) {
    const { stream } = this.connection;
    if (stream.writableCorked === 0) {
      stream.cork();
      process.nextTick(() => stream.uncork());
    }
    return Reflect.apply(pg.Client.prototype.query, this, query);
  },
});

/** A client that drops the names of statements: behind a transaction pooler the next use may reach another server process. */
class UnnamedClient extends pg.Client {}

Object.defineProperty(UnnamedClient.prototype, 'query', {
  value(this: pg.Client, query: unknown, ...rest: unknown[]) {
    const unnamed = isNamed(query) ? { ...query, name: undefined } : query;
    return Reflect.apply(pg.Client.prototype.query, this, [unnamed, ...rest]);
  },
});

function isNamed(query: unknown): query is { name: unknown; text: string } {
  // A Submittable (COPY, cursor) must be passed on unchanged.
  return typeof query === 'object' && query !== null && 'name' in query && !('submit' in query);
}

/** Gives `fn` a connection that closes when the signal fires: a disconnected client costs nothing more. @throws the signal's reason then */
export async function withAbort<T>(
  pool: Pool,
  signal: AbortSignal,
  fn: (client: pg.PoolClient) => Promise<T>,
): Promise<T> {
  signal.throwIfAborted();
  const client = await pool.connect();
  const detach = closeOnAbort(client, signal);
  let isLost = false;
  try {
    signal.throwIfAborted();
    return await fn(client);
  } catch (error) {
    // On a silent connection the statement may still be running.
    isLost = isDatabaseUnavailable(error);
    throw signal.aborted ? signal.reason : error;
  } finally {
    detach();
    client.release(signal.aborted || isLost);
  }
}

/** The server notices it, and ends the statement that runs there (`client_connection_check_interval`). @returns ends this, before release */
export function closeOnAbort(client: pg.PoolClient, signal: AbortSignal): () => void {
  const close = (): void => {
    client.end().catch(() => undefined);
    // `end` waits for statements that were pipelined.
    client.connection.stream.destroy();
  };
  signal.addEventListener('abort', close, { once: true });
  return () => signal.removeEventListener('abort', close);
}

declare module 'pg' {
  interface ClientBase {
    readonly connection: Connection;
    readonly processID: number | null;
  }
}
