/** The records of the feed in its proof log: the leaf follows from the number, the seed is stored beside the record. */
import type { Db } from '../../database/transaction.ts';
import { redactedNumbers } from '../../lib/feed/record.ts';
import { isRecord } from '../../lib/json/json-value.ts';
import type { NumberedEntry, NumberedRecords, ProofWriter, StoredProof } from '../../proof/proof-log.ts';
import { entryOf, type ProofRecord } from '../../proof/record.ts';
import type { RecordText } from '../domain/record-text.ts';
import { joinRecord, lockFeedRow, readFeedRow } from './records.ts';
import { columns } from './state.ts';
import { endOfRead, readNumbers, type StoredNumber } from './verify.ts';

export const RECORD_PART = 'record';

/** A record as it is served, without `resourceUrl`: the address of the service may change. */
function proofRecordOf(text: RecordText): ProofRecord {
  const record: unknown = JSON.parse(joinRecord(text, ''));
  if (!isRecord(record)) throw new TypeError('a record of the feed is not an object');
  const { resourceUrl: _, ...served } = record;
  return { parts: [[RECORD_PART, served]] };
}

function storedRecordOf({ prefix, suffix }: StoredNumber): ProofRecord {
  return proofRecordOf({ prefix: prefix ?? '', suffix });
}

function sealedName(sequenceNumber: number): string {
  return `raadsfeed ${sequenceNumber}`;
}

export async function sealRecords(
  db: Db,
  writer: ProofWriter,
  records: readonly { readonly sequenceNumber: number; readonly text: RecordText }[],
): Promise<readonly string[]> {
  const sealed = records.map(({ sequenceNumber: number, text }) => ({ number, ...writer.seal(proofRecordOf(text)) }));
  await writer.append(db, sealed);
  return sealed.map(({ number, seed }) => writer.encryptSeed(sealedName(number), seed));
}

/** How the sequencer enters records published before the log was switched on. */
export function numberedRecords(writer: ProofWriter): NumberedRecords {
  return {
    lockLast: async (db) => (await lockFeedRow(db)).head.sequenceNumber,
    async seal(db, from, upTo) {
      const entries: NumberedEntry[] = [];
      for await (const rows of readAll(db, from - 1, upTo)) {
        const sealed = rows.map((row) => ({ number: row.sequenceNumber, ...writer.seal(storedRecordOf(row)) }));
        const seeds = sealed.map(({ number, seed }) => ({
          number,
          seed: writer.encryptSeed(sealedName(number), seed),
        }));
        await db.query(
          `update raadsfeed.records r set seed = z.seed from unnest($1::bigint[], $2::text[]) as z (number, seed)
            where r.sequence_number = z.number`,
          columns(seeds, 'number', 'seed'),
        );
        entries.push(...sealed);
      }
      return entries;
    },
  };
}

async function* readAll(db: Db, start: number, upTo: number): AsyncGenerator<readonly StoredNumber[]> {
  for (let after = start; after < upTo; ) {
    const end = await endOfRead(db, after, Math.min(upTo, after + PAGE_NUMBERS));
    yield await readNumbers(db, after, end);
    after = end;
  }
}

/** Maximum numbers read in one statement; fewer when their texts are large. */
const PAGE_NUMBERS = 1000;

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
  return { found: 'record', record: storedRecordOf(row), seed };
}

/** Every record of the feed for `proof verify`, in the order of its numbers. A `redact` also says which leaves it removed. */
export async function* storedRecords(db: Db, writer: ProofWriter): AsyncGenerator<StoredProof> {
  const { head } = await readFeedRow(db);
  // Nothing may be beyond the head; it is read nevertheless, because somebody may have put it there.
  const text = 'select max(sequence_number) as last from raadsfeed.records';
  const { rows } = await db.query<{ last: number | null }>(text);
  for await (const numbers of readAll(db, 0, Math.max(head.sequenceNumber, rows[0]?.last ?? 0))) {
    for (const row of numbers) yield storedProof(row, writer);
  }
}

function storedProof(row: StoredNumber, writer: ProofWriter): StoredProof {
  const { sequenceNumber: number, op, seed } = row;
  const named = { name: `record ${number}`, number };
  try {
    const record = storedRecordOf(row);
    const removes = redactedBy(record);
    if (seed !== null) {
      return { ...named, entry: entryOf(writer.decryptSeed(sealedName(number), seed), record), removes };
    }
    // The record in place of a redacted one has no entry; a later `redact` must name its number.
    const isRedacted = op === 'redact' && removes.length === 1 && removes[0] === number;
    return isRedacted ? { ...named, isRedacted } : { ...named, fault: 'has no seed' };
  } catch {
    return { ...named, fault: 'its seed or its text cannot be read' };
  }
}

function redactedBy({ parts: [first] }: ProofRecord): readonly number[] {
  const record = first?.[1];
  return isRecord(record) ? redactedNumbers(record) : [];
}
