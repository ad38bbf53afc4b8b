import type { Db } from '../../kernel/database/transaction.ts';

/** What an idempotency key was used for; undefined when nobody did, or longer ago than it is kept. */
export async function readIdempotency(
  db: Db,
  key: string,
): Promise<{ readonly content: string; readonly actieId: string } | undefined> {
  const { rows } = await db.query<{ content: string; actieId: string }>(
    'select inhoud as content, actie_id as "actieId" from verwerkingenlog.idempotentie where sleutel = $1::uuid',
    [key],
  );
  return rows[0];
}

const BATCH = 10_000;

/** Forgets what is older than 24 hours. */
export async function forgetIdempotency(db: Db, now: Date): Promise<number> {
  let forgotten = 0;
  for (;;) {
    const { rowCount } = await db.query(
      `delete from verwerkingenlog.idempotentie where sleutel in (
         select sleutel from verwerkingenlog.idempotentie where tijdstip <= $1::timestamptz - interval '24 hours' limit $2::integer
       ) and tijdstip <= $1::timestamptz - interval '24 hours'`,
      [now, BATCH],
    );
    forgotten += rowCount ?? 0;
    if ((rowCount ?? 0) < BATCH) return forgotten;
  }
}
