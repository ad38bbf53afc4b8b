/** The one row of the feed: writers lock it, and readers compare what they have in memory with it. */
import type { Db } from '../../database/transaction.ts';

/** The channel on which every instance hears that the feed has changed; the payload is the new `FEED_HEAD`. */
export const FEED_CHANNEL = 'raadsfeed';

/** A position in the feed: after the record with this number. */
export interface FeedPosition {
  readonly sequenceNumber: number;
  /** Of the record at that number: a number that is given twice (a restored backup) has another one. */
  readonly epoch: number;
}

/** The state of the feed that readers depend on. */
export interface FeedHead {
  /** The random identity of this feed, in hexadecimal. */
  readonly feedId: string;
  readonly head: FeedPosition;
  /** Everything up to and including this position was pruned; a cursor may stand exactly here. */
  readonly historyAfter: FeedPosition;
  /** Grows with every change of what was readable: what is in memory belongs to one value of it. */
  readonly redactions: number;
}

/** The whole row, for writers. */
export interface FeedRow extends FeedHead {
  readonly historieVanaf: Date;
  readonly lastStoredAt: Date | null;
  /** Every number below this one has a partition for its text. */
  readonly partitionedTo: number;
  /** A proof log is kept of the feed: nothing may be published without an entry in it. */
  readonly hasProof: boolean;
}

/** A `FeedHead` as text, for a select from `raadsfeed.feed`: one column beside the rows of a read, and what a notification carries. */
export const FEED_HEAD = `concat_ws(' ', encode(feed_id, 'hex'), head, head_epoch, history_after, history_after_epoch, redactions)`;

/** Reads `FEED_HEAD`; `undefined` when the text is not a head. */
export function parseFeedHead(text: string): FeedHead | undefined {
  const found = /^([0-9a-f]{16}) (\d{1,16}) (-?\d{1,10}) (\d{1,16}) (-?\d{1,10}) (\d{1,16})$/.exec(text);
  if (found === null) return undefined;
  const [, feedId = '', head, epoch, after, afterEpoch, redactions] = found;
  return {
    feedId,
    head: { sequenceNumber: Number(head), epoch: Number(epoch) },
    historyAfter: { sequenceNumber: Number(after), epoch: Number(afterEpoch) },
    redactions: Number(redactions),
  };
}

/** @throws {Error} when the text is no `FEED_HEAD`: the feed has no row, which the migration makes */
export function toFeedHead(text: string | null | undefined): FeedHead {
  const head = parseFeedHead(text ?? '');
  if (head === undefined) throw new Error('the feed has no row; was the database migrated?');
  return head;
}

export async function readFeedHead(db: Db): Promise<FeedHead> {
  const { rows } = await db.query<{ head: string }>({
    name: 'raadsfeed-head',
    text: `select ${FEED_HEAD} as head from raadsfeed.feed`,
  });
  return toFeedHead(rows[0]?.head);
}

interface Row {
  readonly feed_head: string;
  readonly history_from: Date;
  readonly last_stored_at: Date | null;
  readonly partitioned_to: number;
  readonly has_proof: boolean;
}

const ROW = `select ${FEED_HEAD} as feed_head, history_from, last_stored_at, partitioned_to,
  exists (select from proof.logs where log = 'raadsfeed') as has_proof from raadsfeed.feed`;

export async function readFeedRow(db: Db): Promise<FeedRow> {
  const { rows } = await db.query<Row>({ name: 'raadsfeed-feed', text: ROW });
  return toFeedRow(rows[0]);
}

/** Locks the row, as every writer does: until the end of the transaction no other writer assigns numbers. */
export async function lockFeedRow(db: Db): Promise<FeedRow> {
  const { rows } = await db.query<Row>({ name: 'raadsfeed-feed-lock', text: `${ROW} for update` });
  return toFeedRow(rows[0]);
}

function toFeedRow(row: Row | undefined): FeedRow {
  return {
    ...toFeedHead(row?.feed_head),
    historieVanaf: row?.history_from ?? new Date(0),
    lastStoredAt: row?.last_stored_at ?? null,
    partitionedTo: row?.partitioned_to ?? 0,
    hasProof: row?.has_proof ?? false,
  };
}

/** Moves the head, and notifies every instance at the commit. @param redactions among the records that were published */
export async function moveHead(db: Db, head: FeedPosition, storedAt: Date, redactions: number): Promise<void> {
  await db.query({
    name: 'raadsfeed-move-head',
    text: `with moved as (
             update raadsfeed.feed
                set head = $1::bigint, head_epoch = $2::integer, last_stored_at = $3::timestamptz, redactions = redactions + $4::bigint
             returning ${FEED_HEAD} as feed_head
           )
           select pg_notify('${FEED_CHANNEL}', feed_head) from moved`,
    values: [head.sequenceNumber, head.epoch, storedAt.toISOString(), redactions],
  });
}

/** Moves the beginning of the history, and notifies every instance at the commit. */
export async function moveBeginning(db: Db, after: FeedPosition, since: Date): Promise<void> {
  await db.query({
    text: `with moved as (
             update raadsfeed.feed
                set history_after = $1::bigint, history_after_epoch = $2::integer, history_from = $3::timestamptz, redactions = redactions + 1
             returning ${FEED_HEAD} as feed_head
           )
           select pg_notify('${FEED_CHANNEL}', feed_head) from moved`,
    values: [after.sequenceNumber, after.epoch, since.toISOString()],
  });
}
