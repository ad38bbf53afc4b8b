import { joinRecord } from '../domain/record-text.ts';
import type { RecordFilter, StoredRecord } from '../store/read-records.ts';

/** The first thing on a stream: how long a client waits before it connects again, in milliseconds. */
export const RETRY_LINE = 'retry: 3000\n\n';
/** Keeps proxies from taking an idle stream for a dead one. */
export const HEARTBEAT = Buffer.from(':\n\n');

/** A record as a server-sent event; the text of a record has no line break in it. */
export function eventText(record: Omit<StoredRecord, 'merk'>, mountUrl: string): string {
  return `id: ${record.sequenceNumber}\ndata: ${joinRecord(record, mountUrl)}\n\n`;
}

/** Whether a record passes a filter. */
export function passes(record: Required<RecordFilter>, filter: RecordFilter): boolean {
  return (
    (filter.organisatiecode === undefined || filter.organisatiecode === record.organisatiecode) &&
    (filter.resourceType === undefined || filter.resourceType === record.resourceType)
  );
}
