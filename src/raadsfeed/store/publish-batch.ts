/**
 * The only giver of numbers. It locks the feed's one row, so the numbers are in the order of the commits, and a rollback (or a
 * writer that was killed) leaves no hole: the numbers it gave were never anyone's.
 */
import { randomInt } from 'node:crypto';
import type { Db } from '../../kernel/database/transaction.ts';
import type { Change } from '../domain/change.ts';
import { recordText } from '../domain/record-text.ts';
import { resourceKey } from '../domain/resource.ts';
import { lockFeedRow, moveHead } from './feed-row.ts';
import { readStateHashes } from './read-state-hashes.ts';
import { redactPlaces } from './redact-places.ts';
import { ensureTextPartitions } from './text-partitions.ts';
import { type NumberedRecord, writeRecords } from './write-records.ts';

/** What became of a change. */
export type Outcome =
  | { readonly recorded: number; readonly redacted?: readonly number[] }
  /** It changes nothing, so it is not in the log. */
  | 'no-op';

/**
 * Publishes changes in their order, within the transaction that the caller owns: everything or nothing is in the feed at its commit.
 * @param now time of the caller's clock; `storedAt` never goes back, even when it does
 */
export async function publishBatch(db: Db, changes: readonly Change[], now: Date): Promise<Outcome[]> {
  const feed = await lockFeedRow(db);
  // Everything may be recorded, and the next partition is made before the last one is full.
  await ensureTextPartitions(db, feed, feed.head.sequenceNumber + changes.length);
  const state = await readStateHashes(db, changes);
  const storedAt = new Date(Math.max(now.getTime(), feed.lastStoredAt?.getTime() ?? 0));
  const storedAtText = storedAt.toISOString();
  const seed = randomInt(-(2 ** 31), 2 ** 31);
  /** Another for each number, and never again the same: see `tekst.merk`. */
  const epochOf = (number: number): number => seed ^ Math.imul(number, 0x9e37_79b1);
  let head = feed.head.sequenceNumber;
  let redactions = 0;
  let waiting: NumberedRecord[] = [];
  const write = async (): Promise<void> => {
    if (waiting.length === 0) return;
    await writeRecords(db, waiting, storedAt);
    waiting = [];
  };
  const record = (change: Change, redacted?: readonly number[]): Outcome => {
    head += 1;
    const text = recordText(change, head, storedAtText, redacted);
    waiting.push({ sequenceNumber: head, epoch: epochOf(head), change, text });
    return redacted === undefined ? { recorded: head } : { recorded: head, redacted };
  };

  const outcomes: Outcome[] = [];
  for (const change of changes) {
    const key = resourceKey(change.resourceType, change.resource);
    if (change.op === 'upsert') {
      const same = state.get(key) === change.contentHash;
      outcomes.push(same ? 'no-op' : record(change));
      state.set(key, change.contentHash);
    } else if (change.op === 'delete') {
      outcomes.push(state.delete(key) ? record(change) : 'no-op');
    } else {
      // What was published before it in this batch must be there to be reached.
      await write();
      const { numbers, gone } = await redactPlaces(db, change);
      outcomes.push(numbers.length > 0 ? record(change, numbers) : 'no-op');
      if (numbers.length > 0) redactions += 1;
      state.delete(key);
      // It may have reached other resources too.
      for (const other of gone) state.delete(other);
    }
  }
  await write();
  if (head > feed.head.sequenceNumber)
    await moveHead(db, { sequenceNumber: head, epoch: epochOf(head) }, storedAt, redactions);
  return outcomes;
}
