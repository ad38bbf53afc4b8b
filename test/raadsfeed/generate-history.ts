import type { Db } from '../../src/database/transaction.ts';

/** Adds records as text, past the writer: made by the database itself, ten million take minutes. Their marks are 0; twenty organisations share them. */
export async function generateHistory(db: Db, from: number, upTo: number): Promise<void> {
  // Partitions are made at most a million numbers beyond the head.
  await db.query('update raadsfeed.feed set head = greatest(head, $1::bigint - 1)', [from]);
  await db.query('select raadsfeed.ensure_text_partitions($1::bigint)', [upTo]);
  await db.query(GENERATE, [from, upTo]);
}

const GENERATE = `
  with nieuw as (
    select n, 'gm' || (9000 + n % 20) as code, 'document-' || n as id from generate_series($1::bigint, $2::bigint) n
  ), records as (
    insert into raadsfeed.records (sequence_number, op, resource_type, organisatiecode, bronidentificatie, stored_at)
    select n, 'upsert', 'Informatieobject', code, id, now() from nieuw
  ), teksten as (
    insert into raadsfeed.texts (sequence_number, epoch, record_prefix, record_suffix)
    select n, 0,
           '{"sequenceNumber":' || n || ',"op":"upsert","resourceType":"Informatieobject","resource":{"organisatiecode":"' || code ||
             '","bronidentificatie":"' || id || '"},"storedAt":"2026-01-15T14:35:42.000Z","contentHash":"sha256:' || repeat('0', 64) ||
             '","resourceUrl":"',
           '/organisaties/' || code || '/informatieobjecten/' || id || '","data":{"omschrijving":"' || repeat(md5(n::text), 20) || '"}}'
      from nieuw
  ), standen as (
    insert into raadsfeed.current_records (organisatiecode, resource_type, bronidentificatie, sequence_number, content_hash)
    select code, 'Informatieobject', id, n, 'sha256:' || repeat('0', 64) from nieuw
  )
  update raadsfeed.feed set head = $2::bigint, head_epoch = 0, last_stored_at = now()`;
