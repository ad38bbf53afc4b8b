import type { Db } from './transaction.ts';

/** How far the clock of this process may be ahead of the database's, in milliseconds. */
const MAX_AHEAD_MS = 5000;

/** By a clock that is ahead, terms would pass too early, and what is removed does not come back. */
class ClockAheadError extends Error {
  override readonly name = 'ClockAheadError';
}

/**
 * Call before anything is removed because of its age.
 * @param now of the clock of this process
 * @throws {ClockAheadError} when it is more than 5 seconds ahead of the database's
 */
export async function refuseClockAhead(db: Db, now: Date): Promise<void> {
  const { rows } = await db.query<{ ahead: number }>(
    'select (extract(epoch from $1::timestamptz - clock_timestamp()) * 1000)::float8 as ahead',
    [now],
  );
  const ahead = rows[0]?.ahead ?? Number.POSITIVE_INFINITY;
  if (ahead <= MAX_AHEAD_MS) return;
  throw new ClockAheadError(
    `the clock of this machine is ${Math.ceil(ahead / 1000)} seconds ahead of the database's: nothing was removed`,
  );
}
