/**
 * The records of the feed in its proof log: those published before the log was switched on, the proof of a record, and all records for `proof
 * verify`.
 */

import type { Db } from '../../database/transaction.ts';
import { isRecord } from '../../lib/json/json-value.ts';
import type { NumberedEntry, NumberedRecords, ProofWriter, StoredProof } from '../../proof/proof-log.ts';
import { entryOf, type ProofRecord } from '../../proof/record.ts';
import type { RecordText } from '../domain/record-text.ts';
import { proofRecordOf, sealedName } from './proof.ts';
import { lockFeedRow, readFeedRow } from './records.ts';
import { endOfRead, readNumbers, type StoredNumber } from './verify.ts';

/** How the sequencer enters records published before the log was switched on. */
export function numberedRecords(writer: ProofWriter): NumberedRecords {
  return {
    lockLast: async (db) => (await lockFeedRow(db)).head.sequenceNumber,
    async seal(db, from, upTo) {
      const entries: NumberedEntry[] = [];
      for (let after = from - 1; after < upTo; ) {
        const end = await endOfRead(db, after, upTo);
        const sealed = (await readNumbers(db, after, end)).map((row) => ({
          number: row.sequenceNumber,
          ...writer.seal(proofRecordOf(textOf(row))),
        }));
        await db.query({
          name: 'raadsfeed-store-seeds',
          text: `update raadsfeed.records r set seed = z.seed from unnest($1::bigint[], $2::text[]) as z (number, seed)
                 where r.sequence_number = z.number`,
          values: [
            sealed.map(({ number }) => number),
            sealed.map(({ number, seed }) => writer.encryptSeed(sealedName(number), seed)),
          ],
        });
        entries.push(...sealed);
        after = end;
      }
      return entries;
    },
  };
}

const textOf = ({ prefix, suffix }: StoredNumber): RecordText => ({ prefix: prefix ?? '', suffix });

/** The state of a number, for its proof. */
type RecordProof =
  | { readonly found: 'record'; readonly record: ProofRecord; readonly seed: Uint8Array }
  /** It was never published; it exists without an entry; its content or all of it is gone. */
  | { readonly found: 'nothing' | 'without-entry' | 'removed' };

export async function readRecordProof(db: Db, writer: ProofWriter, sequenceNumber: number): Promise<RecordProof> {
  const { head } = await readFeedRow(db);
  if (sequenceNumber < 1 || sequenceNumber > head.sequenceNumber) return { found: 'nothing' };
  const [row] = await readNumbers(db, sequenceNumber - 1, sequenceNumber);
  if (row === undefined) return { found: 'removed' };
  if (row.seed === null) return { found: row.op === 'redact' ? 'removed' : 'without-entry' };
  const seed = writer.decryptSeed(sealedName(sequenceNumber), row.seed);
  return { found: 'record', record: proofRecordOf(textOf(row)), seed };
}

/** Every record of the feed for `proof verify`, in the order of its numbers. A `redact` also says which leaves it removed. */
export async function* storedRecords(db: Db, writer: ProofWriter): AsyncGenerator<StoredProof> {
  const { head } = await readFeedRow(db);
  // Nothing may be beyond the head; it is read nevertheless, because somebody may have put it there.
  const { rows } = await db.query<{ last: number | null }>(
    'select max(sequence_number) as last from raadsfeed.records',
  );
  const last = Math.max(head.sequenceNumber, rows[0]?.last ?? 0);
  for (let after = 0; after < last; ) {
    const end = await endOfRead(db, after, Math.min(last, after + PAGE_NUMBERS));
    for (const row of await readNumbers(db, after, end)) yield storedProof(row, writer);
    after = end;
  }
}

/** Maximum numbers read in one statement; fewer when their texts are large. */
const PAGE_NUMBERS = 1000;

function storedProof(row: StoredNumber, writer: ProofWriter): StoredProof {
  const { sequenceNumber, op, seed } = row;
  const name = `record ${sequenceNumber}`;
  try {
    const record = proofRecordOf(textOf(row));
    if (seed === null) {
      // The record in place of a redacted one has no entry; a later `redact` must name its number.
      return op === 'redact' && isRedacted(record, sequenceNumber)
        ? { name, number: sequenceNumber, isRedacted: true }
        : { name, number: sequenceNumber, fault: 'has no seed' };
    }
    const entry = entryOf(writer.decryptSeed(sealedName(sequenceNumber), seed), record);
    return { name, number: sequenceNumber, entry, removes: redactedBy(record) };
  } catch {
    return { name, number: sequenceNumber, fault: 'its seed or its text cannot be read' };
  }
}

function redactedBy({ parts }: ProofRecord): readonly number[] {
  const [[, record] = []] = parts;
  const numbers = isRecord(record) && record.op === 'redact' ? record.geredigeerdeSequenceNumbers : undefined;
  return Array.isArray(numbers) ? numbers.filter((number) => typeof number === 'number') : [];
}

function isRedacted(record: ProofRecord, sequenceNumber: number): boolean {
  const numbers = redactedBy(record);
  return numbers.length === 1 && numbers[0] === sequenceNumber;
}
