import pg from 'pg';
import { readAddresses } from './addresses.ts';
import type { Db } from './db.ts';

/** A login that cannot do, or can do more than, what its role is for. */
export class LoginError extends Error {
  constructor(message: string, cause?: unknown) {
    super(message, { cause });
    this.name = 'LoginError';
  }
}

/**
 * Connects once as a check at start.
 * @returns whether this login is bound to its role, that is, whether it owns none of the program's schemas. Behind a transaction
 *   pooler, where no role can be asked for, that depends on the login alone.
 * @param otherwise what else helps a login that may not act as the role
 * @throws LoginError when the login may not act as the role, with the statement that a DBA has to run.
 */
export async function checkLogin(db: Db, url: string, role: string, otherwise = ''): Promise<{ bound: boolean }> {
  try {
    const { rows } = await db.query<{ owns: boolean }>(
      `select exists (select from pg_namespace where nspname = 'koppelvlak' and pg_has_role(current_user, nspowner, 'USAGE')) as owns`,
    );
    return { bound: rows[0]?.owns === false };
  } catch (error) {
    const state = error instanceof pg.DatabaseError ? error.code : undefined;
    // 22023: the role does not exist, which Postgres calls an invalid value of the setting.
    if (state !== '42501' && state !== '22023') throw error;
    const login = pg.escapeIdentifier(new pg.Client(readAddresses(url).urls[0]).user ?? '');
    const advice = `Migrate first, then as a DBA run: grant ${role} to ${login};${otherwise}`;
    throw new LoginError(`the login ${login} may not act as ${role}. ${advice}`, error);
  }
}
