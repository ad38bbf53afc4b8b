import pg from 'pg';
import type { Db } from '../../kernel/database/transaction.ts';

/** Months that are made ahead, the running one included. */
export const MONTHS_AHEAD = 4;

/** Makes the partitions of the months from a moment on, where they are not there. Safe with several at once. */
export async function makeMonths(db: Db, from: Date, count: number): Promise<number> {
  const { rows } = await db.query<{ made: number }>(
    'select verwerkingenlog.maak_maanden($1::timestamptz, $2::integer) as made',
    [from, count],
  );
  return rows[0]?.made ?? 0;
}

/** Whether a statement failed because the month of a version has no partition. */
export function isMissingMonth(error: unknown): boolean {
  return error instanceof pg.DatabaseError && error.code === '23514' && error.constraint === undefined;
}
