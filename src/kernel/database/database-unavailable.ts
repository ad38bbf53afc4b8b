import pg from 'pg';
import { reasonOf } from '../log.ts';

/** Raised by this program, not by `pg`: no host can be used, or too many callers wait for a connection. */
export class DatabaseUnavailableError extends Error {
  override readonly name: string = 'DatabaseUnavailableError';
}

/** SQLSTATE: shutdown, crash, starting up, too many connections, out of memory or disk, read-only (after a failover). */
const UNAVAILABLE_STATES = ['57P01', '57P02', '57P03', '53000', '53100', '53200', '53300', '25006'];
/** SQLSTATE class of connection errors; pgbouncer reports every problem with its server in it. */
const CONNECTION_CLASS = '08';
/** What Citus says, with a state that means any error, when a worker was lost during a transaction. */
const LOST_WORKER = 'failure on connection marked as essential';
const UNAVAILABLE_CODES = [
  'ECONNREFUSED',
  'ECONNRESET',
  'ECONNABORTED',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
];
/** `pg` gives these errors no code. */
const UNAVAILABLE_MESSAGES = [
  'timeout exceeded when trying to connect',
  'Connection terminated',
  'Client has encountered a connection error and is not queryable',
  'Client was closed and is not queryable',
  'Cannot use a pool after calling end on the pool',
  'Query read timeout',
];

/**
 * Whether an error means that the database cannot be reached or accepts no work now, so that the same request may succeed later; not that a
 * statement is wrong or too slow.
 */
export function isDatabaseUnavailable(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if (error instanceof DatabaseUnavailableError) return true;
  if (error instanceof pg.DatabaseError) {
    if (error.message.startsWith(LOST_WORKER)) return true;
    return (
      error.code !== undefined && (error.code.startsWith(CONNECTION_CLASS) || UNAVAILABLE_STATES.includes(error.code))
    );
  }
  if (error instanceof AggregateError && error.errors.length > 0) return error.errors.every(isDatabaseUnavailable);
  if (UNAVAILABLE_MESSAGES.some((message) => error.message.startsWith(message))) return true;
  return isConnectionFailure(error) || isDatabaseUnavailable(error.cause);
}

function isConnectionFailure(error: Error): boolean {
  if (!('code' in error) || typeof error.code !== 'string') return false;
  if (UNAVAILABLE_CODES.includes(error.code)) return true;
  // A missing socket: ENOENT by itself may also mean a missing file.
  return 'syscall' in error && error.syscall === 'connect';
}

/** Whether the server ended a statement, by time-out or cancellation. */
export function isStatementCancelled(error: unknown): boolean {
  return error instanceof pg.DatabaseError && error.code === '57014';
}

/** SQLSTATE of a refused login or database: the setting is wrong. */
const REFUSED = /^(28...|3D000)$/;

/** The error of a failed connection, with the name of the setting that holds the address; other errors are returned unchanged. */
export function connectionError(error: unknown, variable: string | undefined): unknown {
  if (variable === undefined || !(error instanceof Error)) return error;
  if (error instanceof pg.DatabaseError && REFUSED.test(error.code ?? '')) {
    return new Error(`${variable}: the database refuses the connection: ${error.message}`, { cause: error });
  }
  if (!isDatabaseUnavailable(error)) return error;
  return new DatabaseUnavailableError(`${variable}: the database cannot be reached: ${reasonOf(error)}`, {
    cause: error,
  });
}
