import pg from 'pg';
import { reasonOf } from '../reason.ts';
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
