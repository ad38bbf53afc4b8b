/**
 * The only giver of numbers. It locks the feed's one row, so the numbers are in the order of the commits, and a rollback (or a
 * writer that was killed) leaves no hole: the numbers it gave were never anyone's.
 */
import { randomInt } from 'node:crypto';
import { arrayOf } from '../../kernel/database/array-of.ts';
import type { Db } from '../../kernel/database/db.ts';
import type { Change } from '../domain/change.ts';
import { type RecordText, recordText } from '../domain/record-text.ts';
import { resourceKey } from '../domain/resource.ts';
import { lockFeedRow, moveHead } from './feed-row.ts';
import { redactRecords } from './redact.ts';
import { readStateHashes } from './state.ts';
import { ensureTextPartitions } from './text-partitions.ts';

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
      const { numbers, gone } = await redactRecords(db, change);
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

/** A change that got its number. */
interface NumberedRecord {
  readonly sequenceNumber: number;
  /** See `tekst.merk`. */
  readonly epoch: number;
  readonly change: Change;
  readonly text: RecordText;
}

/**
 * Adds records to the log and brings the current state to what they, in this order, make of it: one statement. The caller has locked the
 * feed and given the numbers.
 */
async function writeRecords(db: Db, records: readonly NumberedRecord[], storedAt: Date): Promise<void> {
  // Only the last record of a resource counts for the state.
  const last = new Map(records.map(({ change }, i) => [resourceKey(change.resourceType, change.resource), i]));
  const isLast = new Set(last.values());
  await db.query({
    name: 'raadsfeed-write-records',
    text: `with nieuw as (
             select * from unnest($1::bigint[], $2::integer[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[],
                                  $9::text[], $10::bigint[], $11::text[], $12::boolean[])
                 as n (sequence_number, merk, op, resource_type, organisatiecode, bronidentificatie, kop, rest, herkomst_feed,
                       herkomst_nummer, content_hash, laatste)
           ), teksten as (
             insert into raadsfeed.tekst (sequence_number, merk, kop, rest)
             select sequence_number, merk, kop, rest from nieuw
           ), aanwezig as (
             insert into raadsfeed.stand (organisatiecode, resource_type, bronidentificatie, sequence_number, content_hash)
             select organisatiecode, resource_type, bronidentificatie, sequence_number, content_hash
               from nieuw
              where laatste and op = 'upsert'
                 on conflict (organisatiecode, resource_type, bronidentificatie)
                 do update set sequence_number = excluded.sequence_number, content_hash = excluded.content_hash
           ), weg as (
             delete from raadsfeed.stand
              using nieuw
              where nieuw.laatste and nieuw.op <> 'upsert'
                and stand.organisatiecode = nieuw.organisatiecode
                and stand.resource_type = nieuw.resource_type
                and stand.bronidentificatie = nieuw.bronidentificatie
           )
           insert into raadsfeed.record (sequence_number, op, resource_type, organisatiecode, bronidentificatie, opgeslagen,
                                         herkomst_feed, herkomst_nummer)
           select sequence_number, op, resource_type, organisatiecode, bronidentificatie, $13::timestamptz, herkomst_feed, herkomst_nummer
             from nieuw`,
    values: [
      records.map(({ sequenceNumber }) => sequenceNumber),
      records.map(({ epoch }) => epoch),
      arrayOf.text(records.map(({ change }) => change.op)),
      arrayOf.text(records.map(({ change }) => change.resourceType)),
      arrayOf.text(records.map(({ change }) => change.resource.organisatiecode)),
      arrayOf.text(records.map(({ change }) => change.resource.bronidentificatie)),
      arrayOf.text(records.map(({ text }) => text.prefix)),
      arrayOf.text(records.map(({ text }) => text.suffix)),
      arrayOf.text(records.map(({ change }) => change.herkomst?.feedUrl ?? null)),
      records.map(({ change }) => change.herkomst?.sequenceNumber ?? null),
      arrayOf.text(records.map(({ change }) => (change.op === 'upsert' ? change.contentHash : null))),
      records.map((_, i) => isLast.has(i)),
      storedAt.toISOString(),
    ],
  });
}
