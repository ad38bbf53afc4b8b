import { arrayOf, type Db } from '../../kernel/database/transaction.ts';
import type { Change } from '../domain/change.ts';
import type { RecordText } from '../domain/record-text.ts';
import { resourceKey } from '../domain/resource.ts';

/** A change that got its number. */
export interface NumberedRecord {
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
export async function writeRecords(db: Db, records: readonly NumberedRecord[], storedAt: Date): Promise<void> {
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
