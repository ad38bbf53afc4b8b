/** Idempotency keys of the last 24 hours, as keyed hashes. Appending takes them. */
import { refuseClockAhead } from '../../database/checks.ts';
import type { Db } from '../../database/transaction.ts';

/** The action that was stored under a key; undefined when none was, or the key was forgotten. */
export async function readIdempotency(db: Db, key: string): Promise<string | undefined> {
  const { rows } = await db.query<{ actieId: string }>(
    'select actie_id as "actieId" from verwerkingenlog.idempotency_keys where sleutel = $1::uuid',
    [key],
  );
  return rows[0]?.actieId;
}

const FORGET_BATCH = 10_000;

/**
 * Forgets keys that are older than 24 hours.
 * @throws {ClockAheadError} when `now` is ahead of the clock of the database: a key that is still valid would give a second entry
 */
export async function forgetIdempotency(db: Db, now: Date): Promise<number> {
  await refuseClockAhead(db, now);
  let forgotten = 0;
  for (;;) {
    const { rowCount } = await db.query(
      `delete from verwerkingenlog.idempotency_keys where sleutel in (
         select sleutel from verwerkingenlog.idempotency_keys where tijdstip <= $1::timestamptz - interval '24 hours' limit $2::integer
       ) and tijdstip <= $1::timestamptz - interval '24 hours'`,
      [now, FORGET_BATCH],
    );
    forgotten += rowCount ?? 0;
    if ((rowCount ?? 0) < FORGET_BATCH) return forgotten;
  }
}
