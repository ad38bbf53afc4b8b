import type { Db } from '../../kernel/database/db.ts';
import type { FeedPosition } from '../domain/cursor.ts';

/** How the feed stands: the row that its writers lock. */
export interface FeedRow {
  readonly feedId: Buffer;
  readonly head: FeedPosition;
  /** The last place that pruning has taken; a cursor may stand here, not before. */
  readonly historyAfter: FeedPosition;
  readonly historieVanaf: Date;
  readonly lastStoredAt: Date | null;
  /** Grows whenever something that was readable has changed. */
  readonly redactions: number;
}

interface Row {
  readonly feed_id: Buffer;
  readonly head: number;
  readonly head_merk: number;
  readonly historie_na: number;
  readonly historie_na_merk: number;
  readonly historie_vanaf: Date;
  readonly laatst_opgeslagen: Date | null;
  readonly redacties: number;
}

/** @throws {Error} when the feed has no row: the migration makes it */
export async function readFeedRow(db: Db): Promise<FeedRow> {
  const { rows } = await db.query<Row>({
    name: 'raadsfeed-feed',
    text: `select feed_id, head, head_merk, historie_na, historie_na_merk, historie_vanaf, laatst_opgeslagen, redacties
             from raadsfeed.feed`,
  });
  return toFeedRow(rows[0]);
}

/** The row under the lock that every writer takes: from here to the end of the transaction nobody else gives numbers. */
export async function lockFeedRow(db: Db): Promise<FeedRow> {
  const { rows } = await db.query<Row>({
    name: 'raadsfeed-feed-lock',
    text: `select feed_id, head, head_merk, historie_na, historie_na_merk, historie_vanaf, laatst_opgeslagen, redacties
             from raadsfeed.feed
              for update`,
  });
  return toFeedRow(rows[0]);
}

function toFeedRow(row: Row | undefined): FeedRow {
  if (row === undefined) throw new Error('the feed has no row; was the database migrated?');
  return {
    feedId: row.feed_id,
    head: { sequenceNumber: row.head, merk: row.head_merk },
    historyAfter: { sequenceNumber: row.historie_na, merk: row.historie_na_merk },
    historieVanaf: row.historie_vanaf,
    lastStoredAt: row.laatst_opgeslagen,
    redactions: row.redacties,
  };
}
