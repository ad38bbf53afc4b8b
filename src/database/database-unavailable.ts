import pg from 'pg';
import { reasonOf } from '../lib/log.ts';

/** Raised by this program, not by `pg`. `pool-busy`: all connections are in use, and too many callers wait or this one waited too long. */
export class DatabaseUnavailableError extends Error {
  override readonly name = 'DatabaseUnavailableError';
  readonly code: 'unreachable' | 'pool-busy';

  constructor(code: DatabaseUnavailableError['code'], message: string, options: ErrorOptions = {}) {
    super(message, options);
    this.code = code;
  }
}

/** SQLSTATE: shutdown, crash, start, connections, memory, disk, read-only (failover); `KV001` is ours: a log key not to be written with here. */
const UNAVAILABLE_STATES = ['57P01', '57P02', '57P03', '53000', '53100', '53200', '53300', '25006', 'KV001'];
/** SQLSTATE class of connection errors; pgbouncer reports every problem with its server in it. */
const CONNECTION_CLASS = '08';
/** Citus reports a worker lost during a transaction with this text, under a state for any error. */
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

/** Whether the database is unreachable or accepts no work now, so that the same request may succeed later; false for a wrong or slow statement. */
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

/** SQLSTATE: ended by its time-out or a cancellation, a lock that was not released, a deadlock, a serialisation failure. */
const BUSY_STATES = ['57014', '55P03', '40P01', '40001'];

/** Whether the server ended a statement because of others. Nothing was done, and the same request may succeed later. */
export function isDatabaseBusy(error: unknown): boolean {
  return error instanceof pg.DatabaseError && BUSY_STATES.includes(error.code ?? '');
}

/** Whether the server ended a transaction in favour of another: an immediate retry usually succeeds. */
export function isConflict(error: unknown): boolean {
  return error instanceof pg.DatabaseError && (error.code === '40P01' || error.code === '40001');
}

/** SQLSTATE classes of wrong data and violated constraints. A foreign key depends on another table. */
const REFUSED_VALUE = /^2[23](?!503$)/;

/** Whether the server refuses a value: the same statement will always fail. */
export function isRefusedValue(error: unknown): boolean {
  return error instanceof pg.DatabaseError && REFUSED_VALUE.test(error.code ?? '');
}

/** Whether a statement may have taken effect although it failed: the connection was lost before its answer came. */
export function isOutcomeUnknown(error: unknown): boolean {
  // There was no connection to send it over.
  if (error instanceof DatabaseUnavailableError) return false;
  if (!(error instanceof pg.DatabaseError)) return isDatabaseUnavailable(error);
  return error.message.startsWith(LOST_WORKER) || /^(08|57P0[12])/.test(error.code ?? '');
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
  const message = `${variable}: the database cannot be reached: ${reasonOf(error)}`;
  return new DatabaseUnavailableError('unreachable', message, { cause: error });
}
