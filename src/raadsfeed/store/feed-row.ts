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

/** @throws {Error} when the text is no `FEED_HEAD` */
export function toFeedHead(text: string | null | undefined): FeedHead {
  const head = parseFeedHead(text ?? '');
  if (head === undefined) throw new Error('the feed has no row; was the database migrated?');
  return head;
}

const ROW = `select ${FEED_HEAD} as head, history_from as "historieVanaf", last_stored_at as "lastStoredAt", partitioned_to as "partitionedTo",
  exists (select from proof.logs where log = 'raadsfeed') as "hasProof" from raadsfeed.feed`;

type Row = Omit<FeedRow, keyof FeedHead> & { readonly head: string };

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
  if (row === undefined) throw new Error('the feed has no row; was the database migrated?');
  return { ...row, ...toFeedHead(row.head) };
}

/** Moves the head. @param redactions among the records that were published */
export async function moveHead(db: Db, head: FeedPosition, storedAt: Date, redactions: number): Promise<void> {
  await move(
    db,
    'head = $1::bigint, head_epoch = $2::integer, last_stored_at = $3::timestamptz',
    head,
    storedAt,
    redactions,
  );
}

/** Moves the beginning of the history. */
export async function moveBeginning(db: Db, after: FeedPosition, since: Date): Promise<void> {
  await move(
    db,
    'history_after = $1::bigint, history_after_epoch = $2::integer, history_from = $3::timestamptz',
    after,
    since,
    1,
  );
}

/** Notifies every instance at the commit. */
async function move(db: Db, change: string, to: FeedPosition, at: Date, redactions: number): Promise<void> {
  await db.query({
    text: `with moved as (
             update raadsfeed.feed set ${change}, redactions = redactions + $4::bigint returning ${FEED_HEAD} as feed_head
           )
           select pg_notify('${FEED_CHANNEL}', feed_head) from moved`,
    values: [to.sequenceNumber, to.epoch, at.toISOString(), redactions],
  });
}
