/** The only place that assigns numbers. It locks the feed's one row: numbers are in the order of the commits, and a rollback leaves no gap. */
import { randomInt } from 'node:crypto';
import type { Db } from '../../database/transaction.ts';
import { resourceKey } from '../../lib/feed/resource.ts';
import type { ProofWriter } from '../../proof/proof-log.ts';
import type { Change, Removal } from '../domain/change.ts';
import { type RecordText, recordText, redactedRecord } from '../domain/record-text.ts';
import { sealRecords } from './proof.ts';
import { lockFeedRow, moveHead } from './records.ts';
import { readRedactable, writeRedacted } from './redact.ts';
import { readStateHashes } from './state.ts';
import { ensureTextPartitions, markContentTables } from './text-partitions.ts';

export type Outcome = { readonly recorded: number; readonly redacted?: readonly number[] } | 'no-op';

/**
 * Publishes changes in their order within the caller's transaction: at its commit all of them are in the feed, or none. Others wait for the lock
 * meanwhile, so the number of statements does not grow with the number of changes.
 * @param now time of the caller's clock; `storedAt` never goes back, even if this does
 */
export async function publishBatch(
  db: Db,
  changes: readonly Change[],
  now: Date,
  proof?: ProofWriter | undefined,
): Promise<Outcome[]> {
  const feed = await lockFeedRow(db);
  // Without its entry a record would leave a hole in the proof log.
  if (feed.hasProof && proof === undefined)
    throw new Error(
      'a proof log is kept of this feed: publishing needs its sealing key, PROOF_SEALING_KEY or in the client `sealingKey` (`koppelvlak proof key --sealing`)',
    );
  const before = feed.head.sequenceNumber;
  // At most everything is recorded; the next partition is made before the last one is full.
  await ensureTextPartitions(db, feed, before + changes.length);
  const state = await readStateHashes(db, changes);
  const redactions = changes.flatMap((change) => (change.op === 'redact' ? [change] : []));
  const content = await readRedactable(db, redactions);
  const storedAt = new Date(Math.max(now.getTime(), feed.lastStoredAt?.getTime() ?? 0));
  const storedAtText = storedAt.toISOString();
  const seed = randomInt(-(2 ** 31), 2 ** 31);
  /** Differs per number and is never reused: see `texts.epoch`. */
  const epochOf = (number: number): number => seed ^ Math.imul(number, 0x9e37_79b1);
  const records: NumberedRecord[] = [];
  const redactedTexts = new Map<number, string>();

  const record = (change: Change, redacted?: readonly number[]): Outcome => {
    const sequenceNumber = before + records.length + 1;
    const text = recordText(change, sequenceNumber, storedAtText, redacted);
    records.push({ sequenceNumber, epoch: epochOf(sequenceNumber), op: change.op, change, text });
    if (change.op === 'upsert' && redactions.length > 0)
      content.publish({ ...change, sequenceNumber, storedAt: storedAtText });
    return redacted === undefined ? { recorded: sequenceNumber } : { recorded: sequenceNumber, redacted };
  };
  const redact = (redaction: Removal): Outcome => {
    const { records: reached, gone } = content.take(redaction);
    for (const found of reached) {
      const prefix = redactedRecord(found, redaction);
      const own = records[found.sequenceNumber - before - 1];
      if (own === undefined) redactedTexts.set(found.sequenceNumber, prefix);
      // Published in the same batch: its content is never written.
      else records[found.sequenceNumber - before - 1] = { ...own, op: 'redact', text: { prefix, suffix: null } };
    }
    for (const key of gone) state.delete(key);
    const numbers = reached.map(({ sequenceNumber }) => sequenceNumber);
    return numbers.length > 0 ? record(redaction, numbers) : 'no-op';
  };

  const outcomes = changes.map((change): Outcome => {
    const key = resourceKey(change);
    if (change.op === 'upsert') {
      if (state.get(key) === change.contentHash) return 'no-op';
      state.set(key, change.contentHash);
      return record(change);
    }
    if (change.op === 'redact') return redact(change);
    return state.delete(key) ? record(change) : 'no-op';
  });
  if (records.length === 0) return outcomes;
  await writeRedacted(db, redactedTexts);
  const seeds = proof === undefined ? undefined : await sealRecords(db, proof, records);
  await writeRecords(db, records, storedAt, seeds);
  const head = before + records.length;
  const redactionCount = records.filter(({ change }) => change.op === 'redact').length;
  if (redactedTexts.size > 0) await markContentTables(db, head);
  await moveHead(db, { sequenceNumber: head, epoch: epochOf(head) }, storedAt, redactionCount);
  return outcomes;
}

interface NumberedRecord {
  readonly sequenceNumber: number;
  readonly epoch: number;
  /** The operation of the change, or `redact` when a later change of the batch removed its content. */
  readonly op: Change['op'];
  readonly change: Change;
  readonly text: RecordText;
}

/** Adds records to the log and applies them, in this order, to the current state. The caller has locked the feed and assigned the numbers. */
async function writeRecords(
  db: Db,
  records: readonly NumberedRecord[],
  storedAt: Date,
  seeds: readonly string[] | undefined,
): Promise<void> {
  const last = new Map(records.map(({ change }, i) => [resourceKey(change), i]));
  const isLast = new Set(last.values());
  await db.query({
    name: 'raadsfeed-write-records',
    text: `with added as (
             select * from unnest($1::bigint[], $2::integer[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[],
                                  $9::text[], $10::bigint[], $11::text[], $12::boolean[], $14::text[])
                 as n (sequence_number, epoch, op, resource_type, organisatiecode, bronidentificatie, record_prefix, record_suffix, herkomst_feed,
                       herkomst_number, content_hash, is_last, seed)
           ), new_texts as (
             insert into raadsfeed.texts (sequence_number, epoch, record_prefix, record_suffix)
             select sequence_number, epoch, record_prefix, record_suffix from added
           ), present as (
             insert into raadsfeed.current_records (organisatiecode, resource_type, bronidentificatie, sequence_number, content_hash)
             select organisatiecode, resource_type, bronidentificatie, sequence_number, content_hash
               from added
              where is_last and op = 'upsert'
                 on conflict (organisatiecode, resource_type, bronidentificatie)
                 do update set sequence_number = excluded.sequence_number, content_hash = excluded.content_hash
           ), gone as (
             delete from raadsfeed.current_records
              using added
              where added.is_last and added.op <> 'upsert'
                and current_records.organisatiecode = added.organisatiecode
                and current_records.resource_type = added.resource_type
                and current_records.bronidentificatie = added.bronidentificatie
           )
           insert into raadsfeed.records (sequence_number, op, resource_type, organisatiecode, bronidentificatie, stored_at,
                                         herkomst_feed, herkomst_number, seed)
           select sequence_number, op, resource_type, organisatiecode, bronidentificatie, $13::timestamptz, herkomst_feed, herkomst_number,
                  seed
             from added`,
    values: [
      records.map(({ sequenceNumber }) => sequenceNumber),
      records.map(({ epoch }) => epoch),
      records.map(({ op }) => op),
      records.map(({ change }) => change.resourceType),
      records.map(({ change }) => change.resource.organisatiecode),
      records.map(({ change }) => change.resource.bronidentificatie),
      records.map(({ text }) => text.prefix),
      records.map(({ text }) => text.suffix),
      records.map(({ change }) => change.herkomst?.feedUrl ?? null),
      records.map(({ change }) => change.herkomst?.sequenceNumber ?? null),
      records.map(({ change }) => (change.op === 'upsert' ? change.contentHash : null)),
      records.map((_, i) => isLast.has(i)),
      storedAt.toISOString(),
      records.map((_, i) => seeds?.[i] ?? null),
    ],
  });
}
