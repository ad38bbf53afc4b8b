/** The text of a record, made once when it is published. The address of this service is left out, because it may change. */

import { resourcePath } from '../../lib/feed/resource.ts';
import type { Change, Removal } from './change.ts';

export interface RecordText {
  /** The whole record; of an upsert, everything before the address of the mount. */
  readonly prefix: string;
  /** For an upsert, everything after the address of the mount; else `null`. */
  readonly suffix: string | null;
}

/** The record of a change. `redacted`: the numbers that a redaction affects. */
export function recordText(
  change: Change,
  sequenceNumber: number,
  storedAt: string,
  redacted: readonly number[] = [],
): RecordText {
  const { op, resourceType, resource, gewijzigdOp, herkomst, other } = change;
  const common = {
    sequenceNumber,
    op,
    resourceType,
    resource: { organisatiecode: resource.organisatiecode, bronidentificatie: resource.bronidentificatie },
    storedAt,
    ...(change.op === 'upsert' ? { contentHash: change.sourceHash ?? change.contentHash } : {}),
    gewijzigdOp,
    herkomst: herkomst && { feedUrl: herkomst.feedUrl, sequenceNumber: herkomst.sequenceNumber },
    ...other,
  };
  if (change.op === 'upsert') {
    return {
      prefix: `${JSON.stringify(common).slice(0, -1)},"resourceUrl":"`,
      suffix: `${dataPrefix(change)}${change.dataText}}`,
    };
  }
  const { verwijderreden, toelichting } = change;
  const numbers = change.op === 'redact' ? { geredigeerdeSequenceNumbers: redacted } : {};
  return { prefix: JSON.stringify({ ...common, verwijderreden, toelichting, ...numbers }), suffix: null };
}

/** The redaction stub of a record: its number, its resource, and the reason of the redaction. */
export function redactedRecord(
  { sequenceNumber, storedAt, resourceType, resource, herkomst }: RedactedRecord,
  { verwijderreden, toelichting }: Removal,
): string {
  const change = { op: 'redact', resourceType, resource, verwijderreden, toelichting, herkomst } as const;
  return recordText(change, sequenceNumber, storedAt, [sequenceNumber]).prefix;
}

export interface RedactedRecord extends Pick<Change, 'resourceType' | 'resource' | 'herkomst'> {
  readonly sequenceNumber: number;
  readonly storedAt: string;
}

/** `data` alone, taken from the stored suffix of the record. */
export function dataOf(suffix: string, of: Pick<Change, 'resourceType' | 'resource'>): string {
  return suffix.slice(dataPrefix(of).length, -1);
}

function dataPrefix({ resourceType, resource }: Pick<Change, 'resourceType' | 'resource'>): string {
  return `${resourcePath(resourceType, resource)}","data":`;
}
