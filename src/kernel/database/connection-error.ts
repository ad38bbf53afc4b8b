import pg from 'pg';
import { DatabaseUnavailableError, isDatabaseAway } from './database-away.ts';

/** SQLSTATE of a login or a database that is not let in: the setting is wrong, and stays so. */
const REFUSED = /^(28...|3D000)$/;

/** The error of a connection that could not be made, naming the setting that holds the address; what else went wrong stays as it is. */
export function connectionError(error: unknown, variable: string | undefined): unknown {
  if (variable === undefined || !(error instanceof Error)) return error;
  if (error instanceof pg.DatabaseError && REFUSED.test(error.code ?? '')) {
    return new Error(`${variable}: the database refuses the connection: ${error.message}`, { cause: error });
  }
  if (!isDatabaseAway(error)) return error;
  return new DatabaseUnavailableError(`${variable}: the database cannot be reached: ${reasonOf(error)}`, {
    cause: error,
  });
}

/** A host name with several addresses fails with an error for each, and no message of its own. */
export function reasonOf(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) {
    return [...new Set(error.errors.map(reasonOf))].join('; ');
  }
  if (!(error instanceof Error)) return String(error);
  const code = 'code' in error && typeof error.code === 'string' ? error.code : error.name;
  return error.message === '' ? code : error.message;
}
