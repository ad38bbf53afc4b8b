import pg from 'pg';
import { reasonOf } from '../log.ts';

/** Said by this program and not by `pg`: no host can be used, or too many wait for a connection already. */
export class DatabaseUnavailableError extends Error {
  override readonly name: string = 'DatabaseUnavailableError';
}

/** SQLSTATE: shutdown, crash, starting up, too many connections, out of memory or disk, read-only (after a switch of servers). */
const UNAVAILABLE_STATES = ['57P01', '57P02', '57P03', '53000', '53100', '53200', '53300', '25006'];
/** Class 08 is the connection itself; pgbouncer reports every trouble with its server as one of these. */
const CONNECTION_CLASS = '08';
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
/** pg gives these no code. */
const UNAVAILABLE_MESSAGES = [
  'timeout exceeded when trying to connect',
  'Connection terminated',
  'Client has encountered a connection error and is not queryable',
  'Client was closed and is not queryable',
  'Cannot use a pool after calling end on the pool',
  'Query read timeout',
];

/**
 * Whether an error means that the database cannot be reached or takes no work now (then the same request may succeed later), and
 * not that this statement is wrong or too slow.
 */
export function isDatabaseUnavailable(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if (error instanceof DatabaseUnavailableError) return true;
  if (error instanceof pg.DatabaseError) {
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
  // A socket that is not there (ENOENT also means a missing file, which is another thing).
  return 'syscall' in error && error.syscall === 'connect';
}

/** Whether the server ended a statement: its time was up, or it was cancelled. */
export function isStatementCancelled(error: unknown): boolean {
  return error instanceof pg.DatabaseError && error.code === '57014';
}

/** SQLSTATE of a login or a database that is not let in: the setting is wrong, and stays so. */
const REFUSED = /^(28...|3D000)$/;

/** The error of a connection that could not be made, naming the setting that holds the address; what else went wrong stays as it is. */
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
