import { normaliseOrganisatiecode } from '../../lib/feed-client/organisatiecode.ts';
import { contentHash } from '../../lib/json/canonical-json.ts';
import { dataOf } from '../domain/record-text.ts';
import { isResourceType, resourceKey } from '../domain/resource.ts';
import type { StoredNumber } from '../store/verify.ts';

/** A stored record, for checks that compare several. */
export interface CheckedRecord {
  readonly sequenceNumber: number;
  readonly op: string;
  readonly key: string;
  readonly contentHash: string | undefined;
  readonly redacted: readonly number[];
  readonly organisatiecode: string;
  readonly data: unknown;
}

type Fault = (text: string) => void;

/** Checks one record by itself: both tables have it and agree, the hash is that of the data, a redacted record holds no content. */
export function checkRecord(row: StoredNumber, fault: Fault): CheckedRecord | undefined {
  const { sequenceNumber, prefix, suffix, op, resourceType, organisatiecode, bronidentificatie, storedAt } = row;
  if (
    prefix === null ||
    op === null ||
    !isResourceType(resourceType) ||
    organisatiecode === null ||
    bronidentificatie === null
  ) {
    fault(prefix === null ? 'has no text' : 'is not in the index of records');
    return undefined;
  }
  const parsed = parse(prefix, suffix);
  if (parsed === undefined) {
    fault('its text is not JSON');
    return undefined;
  }
  const same = (name: string, said: unknown, stored: unknown): void => {
    if (said !== stored) fault(`its text says another ${name} than the index`);
  };
  same('sequenceNumber', parsed.sequenceNumber, sequenceNumber);
  same('op', parsed.op, op);
  same('resourceType', parsed.resourceType, resourceType);
  same('organisatiecode', member(parsed.resource, 'organisatiecode'), organisatiecode);
  same('bronidentificatie', member(parsed.resource, 'bronidentificatie'), bronidentificatie);
  same('storedAt', parsed.storedAt, storedAt?.toISOString());
  if (normaliseOrganisatiecode(organisatiecode) !== organisatiecode)
    fault('its organisatiecode has not the right form');
  const hash = op === 'upsert' ? hashOf(parsed.data) : undefined;
  if (op === 'upsert') checkContent(parsed, suffix, row, hash, fault);
  else if (suffix !== null || parsed.data !== undefined || parsed.contentHash !== undefined) fault('holds content');
  if (op !== 'upsert' && typeof parsed.verwijderreden !== 'string') fault('has no verwijderreden');
  if (parsed.verwijderreden === 'overig' && typeof parsed.toelichting !== 'string') fault('has no toelichting');
  return {
    sequenceNumber,
    op,
    key: `${organisatiecode}/${resourceType}/${bronidentificatie}`,
    contentHash: hash,
    redacted: numbers(parsed.geredigeerdeSequenceNumbers),
    organisatiecode,
    data: parsed.data,
  };
}

function checkContent(
  parsed: Record<string, unknown>,
  suffix: string | null,
  row: StoredNumber,
  hash: string | undefined,
  fault: Fault,
): void {
  const { data } = parsed;
  if (typeof data !== 'object' || data === null || suffix === null) {
    fault('has no data');
    return;
  }
  // An aggregator passes on the hash of the source.
  if (hash !== parsed.contentHash && parsed.herkomst === undefined) fault('its contentHash is not that of its data');
  const { organisatiecode, bronidentificatie, resourceType } = row;
  if (isResourceType(resourceType) && organisatiecode !== null && bronidentificatie !== null) {
    const text = dataOf(suffix, { resourceType, resource: { organisatiecode, bronidentificatie } });
    if (parse(text, null) === undefined) fault('its resourceUrl is not the address of its resource');
  }
  if (member(data, 'bronidentificatie') !== bronidentificatie) fault('its data is of another resource');
  const organisatie = member(data, 'organisatie');
  const codes = ['gemeente', 'provincie', 'waterschap'].map((kind) => member(organisatie, kind));
  if (!codes.includes(organisatiecode)) fault('its data is of another organisation');
}

function hashOf(data: unknown): string | undefined {
  return typeof data === 'object' && data !== null ? contentHash(data) : undefined;
}

function parse(prefix: string, suffix: string | null): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(suffix === null ? prefix : prefix + suffix);
    return typeof value === 'object' && value !== null ? Object.fromEntries(Object.entries(value)) : undefined;
  } catch {
    return undefined;
  }
}

function numbers(value: unknown): number[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === 'number') : [];
}

/**
 * The one rule about two resources: once its meeting has ended, an agenda item with a start also has an end. The two arrive in any order
 * and in different batches, so only the current state can be checked.
 */
interface MeetingTimes {
  /** Sets the current data of a resource (`resourceKey`); `undefined`: it has none. */
  note(key: string, of: { sequenceNumber: number; organisatiecode: string; data: unknown }): void;
  forget(key: string): void;
  /** Numbers of the agenda items that break the rule. */
  broken(): number[];
}

/** @param now a meeting whose `einde` is later has not ended */
export function createMeetingTimes(now: Date): MeetingTimes {
  const ended = new Set<string>();
  const open = new Map<string, { sequenceNumber: number; meeting: string }>();
  const forget = (key: string): void => {
    ended.delete(key);
    open.delete(key);
  };
  return {
    note(key, { sequenceNumber, organisatiecode, data }) {
      forget(key);
      const kind = member(data, 'dossiertype');
      const end = member(data, 'einde');
      if (kind === 'vergadering' && typeof end === 'string' && Date.parse(end) <= now.getTime()) ended.add(key);
      if (kind !== 'agendapunt' || member(data, 'starttijd') === undefined) return;
      if (member(data, 'eindtijd') !== undefined) return;
      const meeting = member(data, 'vergadering');
      const resource = {
        organisatiecode: String(member(meeting, 'organisatiecode') ?? organisatiecode),
        bronidentificatie: String(member(meeting, 'bronidentificatie')),
      };
      open.set(key, { sequenceNumber, meeting: resourceKey('Vergadering', resource) });
    },
    forget,
    broken: () =>
      [...open.values()].flatMap(({ sequenceNumber, meeting }) => (ended.has(meeting) ? [sequenceNumber] : [])),
  };
}

/** A member of what should be an object. */
function member(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null
    ? Object.entries(value).find(([key]) => key === name)?.[1]
    : undefined;
}
