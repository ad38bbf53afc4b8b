import type { Db } from '../../../database/transaction.ts';

export async function isEnded(db: Db, session: string): Promise<boolean> {
  const { rows } = await db.query({
    name: 'verwerkingenlog-session-ended',
    text: 'select 1 from verwerkingenlog.ended_sessions where session_id = $1::uuid',
    values: [session],
  });
  return rows.length > 0;
}

/** Ends a session for good, and forgets sessions that would have ended by now. @param until when the session would have ended by itself */
export async function endSession(db: Db, session: string, until: Date, now: Date): Promise<void> {
  await db.query(
    `insert into verwerkingenlog.ended_sessions (session_id, ends_at) values ($1::uuid, $2::timestamptz) on conflict do nothing`,
    [session, until],
  );
  await db.query('delete from verwerkingenlog.ended_sessions where ends_at < $1::timestamptz', [now]);
}
