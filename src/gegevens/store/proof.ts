/** Deliveries in the proof log. */
import type { Db } from '../../database/transaction.ts';
import type { ProofRecord, ProofWriter, StoredProof } from '../../seams/proof-log.ts';
import { type Journalled, readJournalAfter } from './journal.ts';

/** The one part of a delivery. */
export const DELIVERY_PART = 'levering';

/** A line of the journal as `--json` prints it, without `verzondenOp`: that is written after the entry. */
export function proofRecordOf({ verzondenOp: _, ...line }: Journalled): ProofRecord {
  return { parts: [[DELIVERY_PART, JSON.parse(JSON.stringify(line))]] };
}

/** What the seed of a delivery is bound to. */
export function seedName(id: number): string {
  return `levering ${id}`;
}

/** A line with what the proof log keeps beside it. */
export interface ProvenDelivery {
  readonly entry: Journalled;
  readonly seed: string | null;
  readonly proofNumber: number | null;
}

/**
 * The proof of a delivery.
 * @returns undefined when it is in no published checkpoint yet
 * @throws {Error} for operators, when it was delivered before the log was switched on
 */
export async function proveDelivery(
  db: Db,
  writer: ProofWriter,
  { entry, seed, proofNumber }: ProvenDelivery,
): Promise<string | undefined> {
  if (seed === null || proofNumber === null)
    throw new Error(`delivery ${entry.id} is from before the proof log was switched on`);
  return await writer.prove(db, {
    record: proofRecordOf(entry),
    seed: writer.decryptSeed(seedName(entry.id), seed),
    number: proofNumber,
    shown: new Set([DELIVERY_PART]),
  });
}

/** The moment of the last delivery that has an entry; undefined: none has. */
export async function lastProven(db: Db): Promise<Date | undefined> {
  const { rows } = await db.query<{ at: Date | null }>(
    'select max(klaargezet_op) as at from gegevens.journaal where bewijs_nr is not null',
  );
  return rows[0]?.at ?? undefined;
}

const BATCH = 500;

/** Every delivery for `proof verify`. */
export async function* storedDeliveries(db: Db, writer: ProofWriter): AsyncGenerator<StoredProof> {
  for (let after = 0; ; ) {
    const lines = await readJournalAfter(db, after, BATCH);
    for (const line of lines) yield storedProof(line, writer);
    const last = lines.at(-1);
    if (last === undefined) return;
    after = last.entry.id;
  }
}

function storedProof({ entry, seed, proofNumber }: ProvenDelivery, writer: ProofWriter): StoredProof {
  const name = `delivery ${entry.id}`;
  if (proofNumber === null) {
    const fault = 'was recorded without an entry';
    return seed === null ? { name, recordedAt: entry.klaargezetOp, fault } : { name, fault };
  }
  try {
    const found = writer.entryOf(proofRecordOf(entry), writer.decryptSeed(seedName(entry.id), seed ?? ''));
    return { name, number: proofNumber, entry: found };
  } catch {
    return { name, number: proofNumber, fault: 'its seed cannot be read' };
  }
}
