import type { Db } from '../../database/transaction.ts';

/** How far ahead of the database's clock a moment may lie (milliseconds): what is stored under a later one outlives its term. */
const MAX_AHEAD_MS = 86_400_000;

/** The latest moment that is taken (milliseconds since 1970), for one that is to be judged. */
export type LatestMoment = (moment: number) => Promise<number>;

/**
 * Asks the database only for a moment that lies beyond the last answer: that clock moves forward, so an earlier one is within bounds. For
 * what was done lately that is once a day.
 */
export function createLatestMoment(db: Db): LatestMoment {
  let latest = Number.NEGATIVE_INFINITY;
  return async (moment) => {
    if (moment > latest) {
      const { rows } = await db.query<{ now: Date }>('select clock_timestamp() as now');
      latest = (rows[0]?.now.getTime() ?? Number.NaN) + MAX_AHEAD_MS;
    }
    return latest;
  };
}
