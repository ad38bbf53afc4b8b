/** Seals records for the proof log: the leaf follows from the number, the seed is stored beside the record. */

import type { Db } from '../../database/transaction.ts';
import { isRecord } from '../../lib/json/json-value.ts';
import type { ProofWriter } from '../../proof/proof-log.ts';
import type { ProofRecord } from '../../proof/record.ts';
import type { RecordText } from '../domain/record-text.ts';
import { joinRecord } from './records.ts';

export const RECORD_PART = 'record';

interface NumberedText {
  readonly sequenceNumber: number;
  readonly text: RecordText;
}

/** A record as it is served, without `resourceUrl`: the address of the service may change. */
export function proofRecordOf(text: RecordText): ProofRecord {
  const record: unknown = JSON.parse(joinRecord(text, ''));
  if (!isRecord(record)) throw new TypeError('a record of the feed is not an object');
  const { resourceUrl: _, ...served } = record;
  return { parts: [[RECORD_PART, served]] };
}

/** Seals records and puts their entries in the queue. @returns their encrypted seeds, in the order given */
export async function sealRecords(
  db: Db,
  writer: ProofWriter,
  records: readonly NumberedText[],
): Promise<readonly string[]> {
  const sealed = records.map(({ sequenceNumber, text }) => ({
    number: sequenceNumber,
    ...writer.seal(proofRecordOf(text)),
  }));
  await writer.append(db, sealed);
  return sealed.map(({ number, seed }) => writer.encryptSeed(sealedName(number), seed));
}

/** The context that the seed of a record is bound to. */
export function sealedName(sequenceNumber: number): string {
  return `raadsfeed ${sequenceNumber}`;
}
