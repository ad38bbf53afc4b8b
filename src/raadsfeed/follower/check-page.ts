import { contentHash } from '../domain/content-hash.ts';

/** A record that was received. Only what every record has is looked at; the rest goes on as it came. */
export interface ReceivedRecord {
  readonly sequenceNumber: number;
  readonly op: string;
  readonly record: Readonly<Record<string, unknown>>;
}

export interface PageChecks {
  /** The number before the first of this page, when it is known; with `gapless` the next one must follow it. */
  readonly after: number | undefined;
  /** False with a filter, and in a snapshot: numbers only ascend there. */
  readonly gapless: boolean;
  readonly fault: (text: string) => void;
}

/** Reads the records of a page and tells what is wrong with them. What has no number or operation is left out. */
export function checkRecords(records: unknown, { after, gapless, fault }: PageChecks): ReceivedRecord[] {
  if (!Array.isArray(records)) {
    fault('a page has no records');
    return [];
  }
  const received: ReceivedRecord[] = [];
  let last = after;
  for (const item of records) {
    const read = readRecord(item);
    if (read === undefined) {
      fault(`after number ${last ?? 0} comes something that is no record`);
      continue;
    }
    const { sequenceNumber } = read;
    if (last !== undefined && sequenceNumber <= last) fault(`number ${sequenceNumber} comes after ${last}`);
    else if (last !== undefined && gapless && sequenceNumber !== last + 1) {
      fault(`the numbers ${last + 1} to ${sequenceNumber - 1} are missing`);
    }
    last = sequenceNumber;
    for (const wrong of faultsOf(read)) fault(`number ${sequenceNumber}: ${wrong}`);
    received.push(read);
  }
  return received;
}

function readRecord(item: unknown): ReceivedRecord | undefined {
  if (typeof item !== 'object' || item === null) return undefined;
  const record = Object.fromEntries(Object.entries(item));
  const { sequenceNumber, op } = record;
  return typeof sequenceNumber === 'number' && Number.isSafeInteger(sequenceNumber) && typeof op === 'string'
    ? { sequenceNumber, op, record }
    : undefined;
}

function faultsOf({ op, record }: ReceivedRecord): string[] {
  const { data, contentHash: said, verwijderreden, geredigeerdeSequenceNumbers: redacted } = record;
  if (op === 'upsert') {
    if (typeof data !== 'object' || data === null) return ['an upsert has no data'];
    return hashOf(data) === said ? [] : ['its contentHash is not that of its data'];
  }
  return [
    ...(op === 'delete' || op === 'redact' ? [] : [`its op ${JSON.stringify(op)} is not known`]),
    ...(data === undefined && said === undefined ? [] : [`a ${op} holds content`]),
    ...(typeof verwijderreden === 'string' ? [] : [`a ${op} has no verwijderreden`]),
    ...(op === 'redact' && !Array.isArray(redacted) ? ['a redact names no numbers'] : []),
  ];
}

function hashOf(data: object): string | undefined {
  try {
    return contentHash(data);
  } catch {
    return undefined;
  }
}
