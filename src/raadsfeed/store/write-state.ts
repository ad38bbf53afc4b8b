import type { Db } from '../../kernel/database/db.ts';
import { resourceKey } from '../domain/resource.ts';
import type { NumberedRecord } from './insert-records.ts';

/** Brings the current state to what these records, in this order, make of it. */
export async function writeState(db: Db, records: readonly NumberedRecord[]): Promise<void> {
  // Only the last record of a resource counts.
  const last = new Map(
    records.map((record) => [resourceKey(record.change.resourceType, record.change.resource), record]),
  );
  const present: NumberedRecord[] = [];
  const gone: NumberedRecord[] = [];
  for (const record of last.values()) (record.change.op === 'upsert' ? present : gone).push(record);
  if (present.length > 0) await putState(db, present);
  if (gone.length > 0) await removeState(db, gone);
}

async function putState(db: Db, records: readonly NumberedRecord[]): Promise<void> {
  await db.query({
    name: 'raadsfeed-put-state',
    text: `insert into raadsfeed.stand as s (organisatiecode, resource_type, bronidentificatie, sequence_number, content_hash)
           select * from unnest($1::text[], $2::text[], $3::text[], $4::bigint[], $5::text[])
               on conflict (organisatiecode, resource_type, bronidentificatie)
               do update set sequence_number = excluded.sequence_number, content_hash = excluded.content_hash`,
    values: [
      ...identities(records),
      records.map(({ sequenceNumber }) => sequenceNumber),
      records.map(({ change }) => (change.op === 'upsert' ? change.contentHash : null)),
    ],
  });
}

async function removeState(db: Db, records: readonly NumberedRecord[]): Promise<void> {
  await db.query({
    name: 'raadsfeed-remove-state',
    text: `delete from raadsfeed.stand
            using unnest($1::text[], $2::text[], $3::text[]) as weg (organisatiecode, resource_type, bronidentificatie)
            where stand.organisatiecode = weg.organisatiecode
              and stand.resource_type = weg.resource_type
              and stand.bronidentificatie = weg.bronidentificatie`,
    values: identities(records),
  });
}

function identities(records: readonly NumberedRecord[]): string[][] {
  return [
    records.map(({ change }) => change.resource.organisatiecode),
    records.map(({ change }) => change.resourceType),
    records.map(({ change }) => change.resource.bronidentificatie),
  ];
}
