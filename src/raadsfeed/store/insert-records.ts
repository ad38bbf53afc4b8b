import type { Db } from '../../kernel/database/db.ts';
import type { Change } from '../domain/change.ts';
import type { RecordText } from '../domain/record-text.ts';

/** A change that got its number. */
export interface NumberedRecord {
  readonly sequenceNumber: number;
  /** See `tekst.merk`. */
  readonly merk: number;
  readonly change: Change;
  readonly text: RecordText;
}

/** Adds records to the log, in one statement. The caller has locked the feed and given the numbers. */
export async function insertRecords(db: Db, records: readonly NumberedRecord[], storedAt: Date): Promise<void> {
  await db.query({
    name: 'raadsfeed-insert-records',
    text: `with nieuw as (
             select * from unnest($1::bigint[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[],
                                  $8::text[], $9::bigint[], $11::integer[])
                 as n (sequence_number, op, resource_type, organisatiecode, bronidentificatie, kop, rest, herkomst_feed, herkomst_nummer, merk)
           ), teksten as (
             insert into raadsfeed.tekst (deel, sequence_number, merk, kop, rest)
             select (sequence_number >> 12) & 31, sequence_number, merk, kop, rest from nieuw
           )
           insert into raadsfeed.record (sequence_number, op, resource_type, organisatiecode, bronidentificatie, opgeslagen,
                                         herkomst_feed, herkomst_nummer)
           select sequence_number, op, resource_type, organisatiecode, bronidentificatie, $10::timestamptz, herkomst_feed, herkomst_nummer
             from nieuw`,
    values: [
      records.map(({ sequenceNumber }) => sequenceNumber),
      records.map(({ change }) => change.op),
      records.map(({ change }) => change.resourceType),
      records.map(({ change }) => change.resource.organisatiecode),
      records.map(({ change }) => change.resource.bronidentificatie),
      records.map(({ text }) => text.kop),
      records.map(({ text }) => text.rest),
      records.map(({ change }) => change.herkomst?.feedUrl ?? null),
      records.map(({ change }) => change.herkomst?.sequenceNumber ?? null),
      storedAt.toISOString(),
      records.map(({ merk }) => merk),
    ],
  });
}
