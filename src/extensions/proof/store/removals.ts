/** What is kept of removed records: that they were, when and by whom. */
import type { Db } from '../../../database/transaction.ts';
import { NEXT_PROOF_NUMBER, type ProofLogName } from '../../../seams/proof-log.ts';

/** A `verwijdering` as it is stored. */
export interface StoredRemoval {
  readonly number: number;
  readonly log: ProofLogName;
  /** JSON text. */
  readonly content: string;
  readonly entry: Uint8Array;
}

export async function nextRemovalNumber(db: Db): Promise<number> {
  const { rows } = await db.query<{ number: number }>(`select ${NEXT_PROOF_NUMBER} as number`);
  if (rows[0] === undefined) throw new TypeError('a sequence gave no number');
  return rows[0].number;
}

export async function insertRemoval(db: Db, { number, log, content, entry }: StoredRemoval): Promise<void> {
  await db.query(
    'insert into proof.verwijderingen (nr, log, inhoud, vermelding) values ($1::bigint, $2::text, $3::text, $4::bytea)',
    [number, log, content, Buffer.from(entry)],
  );
}

/** Removals of a log after a number, in order. */
export async function readRemovals(db: Db, log: ProofLogName, after: number, limit: number): Promise<StoredRemoval[]> {
  const { rows } = await db.query<{ number: number; log: ProofLogName; content: string; entry: Buffer }>(
    `select nr as number, log, inhoud as content, vermelding as entry from proof.verwijderingen
     where log = $1::text and nr > $2::bigint order by nr limit $3::integer`,
    [log, after, limit],
  );
  return rows;
}
