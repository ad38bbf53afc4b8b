import type { Db } from '../../database/transaction.ts';
import { PAGE_OCTETS } from './records.ts';

/** A number of the log in both tables; `null` where one lacks it. */
export interface StoredNumber {
  readonly sequenceNumber: number;
  readonly epoch: number | null;
  readonly prefix: string | null;
  readonly suffix: string | null;
  readonly op: string | null;
  readonly resourceType: string | null;
  readonly organisatiecode: string | null;
  readonly bronidentificatie: string | null;
  readonly storedAt: Date | null;
  /** Of the proof log, encrypted. */
  readonly seed: string | null;
  /** Hash in the current state that names this number. */
  readonly stateHash: string | null;
  readonly stateIdentity: string | null;
}

/** The last number, at most `upTo`, of the next read: as many records as `PAGE_OCTETS` allow, and at least one. */
export async function endOfRead(db: Db, after: number, upTo: number): Promise<number> {
  const { rows } = await db.query<{ end: number | null }>({
    name: 'raadsfeed-verify-end',
    text: `select min(sequence_number) filter (where octets >= $3::integer) as end
             from (select sequence_number,
                          sum(octet_length(record_prefix) + coalesce(octet_length(record_suffix), 0)) over (order by sequence_number) as octets
                     from raadsfeed.texts
                    where sequence_number > $1::bigint and sequence_number <= $2::bigint) t`,
    values: [after, upTo, PAGE_OCTETS],
  });
  return rows[0]?.end ?? upTo;
}

/** Everything stored under the first numbers after one, up to and including `upTo`, in either table. */
export async function readNumbers(db: Db, after: number, upTo: number): Promise<StoredNumber[]> {
  const { rows } = await db.query<StoredNumber>({
    name: 'raadsfeed-numbers',
    text: `select coalesce(r.sequence_number, t.sequence_number, s.sequence_number) as "sequenceNumber", t.epoch as epoch, t.record_prefix as prefix, t.record_suffix as suffix, r.op,
                  r.resource_type as "resourceType", r.organisatiecode, r.bronidentificatie, r.stored_at as "storedAt", r.seed as seed,
                  s.content_hash as "stateHash",
                  s.organisatiecode || '/' || s.resource_type || '/' || s.bronidentificatie as "stateIdentity"
             from (select * from raadsfeed.records where sequence_number > $1::bigint and sequence_number <= $2::bigint) r
             full join (select * from raadsfeed.texts
                         where sequence_number > $1::bigint and sequence_number <= $2::bigint) t
               on t.sequence_number = r.sequence_number
             full join (select * from raadsfeed.current_records where sequence_number > $1::bigint and sequence_number <= $2::bigint) s
               on s.sequence_number = coalesce(r.sequence_number, t.sequence_number)
            order by 1`,
    values: [after, upTo],
  });
  return rows;
}

/** Rows beyond the head, and partitions that await rewriting. */
export async function readLeftovers(db: Db, head: number) {
  const { rows } = await db.query<{ beyondHead: number; unwritten: number }>(
    `select (select count(*) from raadsfeed.records where sequence_number > $1::bigint)
            + (select count(*) from raadsfeed.texts where sequence_number > $1::bigint)
            + (select count(*) from raadsfeed.current_records where sequence_number > $1::bigint) as "beyondHead",
            (select count(*) from raadsfeed.pending_rewrites) as unwritten`,
    [head],
  );
  return rows[0] ?? { beyondHead: 0, unwritten: 0 };
}

/** The records after a number: the resources (`organisatiecode/resourceType/bronidentificatie`), and whether there was a redaction. */
export async function readRecordedSince(db: Db, after: number) {
  const { rows } = await db.query<{ key: string; op: string }>(
    `select distinct organisatiecode || '/' || resource_type || '/' || bronidentificatie as key, op
       from raadsfeed.records where sequence_number > $1::bigint`,
    [after],
  );
  return { keys: new Set(rows.map(({ key }) => key)), isRedacted: rows.some(({ op }) => op === 'redact') };
}
