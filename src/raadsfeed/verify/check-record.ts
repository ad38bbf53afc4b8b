import { contentHash, redactedNumbers } from '../../lib/feed/record.ts';
import { isRecord, type JsonObject } from '../../lib/json/json-value.ts';
import type { StoredNumber } from '../store/verify.ts';

export interface CheckedRecord {
  readonly sequenceNumber: number;
  readonly op: string;
  /** `organisatiecode/resourceType/bronidentificatie`. */
  readonly key: string;
  readonly contentHash: string | undefined;
  readonly redacted: readonly number[];
  readonly organisatiecode: string;
  readonly data: JsonObject | undefined;
}

/** Checks one record alone: both tables have it and agree, the hash matches the data, a redacted record has no content. */
export function checkRecord(row: StoredNumber, fault: (text: string) => void): CheckedRecord | undefined {
  const { sequenceNumber, prefix, suffix, op, resourceType, organisatiecode, bronidentificatie, storedAt } = row;
  if (prefix === null || op === null || organisatiecode === null) {
    fault(prefix === null ? 'has no text' : 'is not in the index of records');
    return undefined;
  }
  const record = parse(prefix + (suffix ?? ''));
  if (record === undefined) {
    fault('its text is not JSON');
    return undefined;
  }
  const { resource, data } = record;
  const said = { ...record, ...(isRecord(resource) ? resource : {}) };
  const stored = { sequenceNumber, op, resourceType, organisatiecode, bronidentificatie };
  for (const [name, value] of Object.entries({ ...stored, storedAt: storedAt?.toISOString() })) {
    if (said[name] !== value) fault(`its text says another ${name} than the index`);
  }
  const content = op === 'upsert' && isRecord(data) ? data : undefined;
  const hash = content && contentHash(content);
  if (op === 'upsert' && hash === undefined) fault('has no data');
  // An aggregator passes on the hash of the source.
  if (hash !== record.contentHash && record.herkomst === undefined) fault('its contentHash is not that of its data');
  if (op !== 'upsert' && (suffix !== null || data !== undefined)) fault('holds content');
  return {
    ...{ sequenceNumber, op, organisatiecode, contentHash: hash, data: content },
    key: `${organisatiecode}/${resourceType}/${bronidentificatie}`,
    redacted: redactedNumbers(record),
  };
}

function parse(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isRecord(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/**
 * The one rule about two resources: once its meeting has ended, an agenda item with a start also has an end. The two arrive in any order
 * and in different batches, so only the current state can be checked.
 * @param now a meeting whose `einde` is later has not ended
 */
export function createMeetingTimes(now: Date) {
  const ended = new Set<string>();
  const open = new Map<string, { sequenceNumber: number; meeting: string }>();
  const forget = (key: string): void => {
    ended.delete(key);
    open.delete(key);
  };
  return {
    forget,
    note({ key, sequenceNumber, organisatiecode, data = {} }: CheckedRecord): void {
      forget(key);
      const { dossiertype, einde, starttijd, eindtijd, vergadering } = data;
      if (dossiertype === 'vergadering' && Date.parse(String(einde)) <= now.getTime()) ended.add(key);
      if (dossiertype === 'agendapunt' && starttijd !== undefined && eindtijd === undefined && isRecord(vergadering)) {
        const of = vergadering.organisatiecode ?? organisatiecode;
        open.set(key, { sequenceNumber, meeting: `${of}/Vergadering/${vergadering.bronidentificatie}` });
      }
    },
    /** Numbers of the agenda items that break the rule. */
    broken: (): number[] =>
      [...open.values()].flatMap(({ sequenceNumber, meeting }) => (ended.has(meeting) ? [sequenceNumber] : [])),
  };
}
