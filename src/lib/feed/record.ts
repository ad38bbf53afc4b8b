/** Checked against the published draft (`event polling 0.0.2`) and no stricter; our own rules are in `openapi/validation/raadsfeed.yaml`. */
import { hash } from 'node:crypto';
import type { components } from '../../contracts/raadsfeed.ts';
import { canonicalJson } from '../json/canonical-json.ts';
import { isRecord, type JsonObject } from '../json/json-value.ts';
import { unwritable } from '../json/parse-untrusted.ts';
import { isMoment } from '../time.ts';
import { isResourceType, type ResourceType } from './resource.ts';

export const OPERATIONS = ['upsert', 'delete', 'redact'] as const;

export const VERWIJDERREDENEN = [
  'ingetrokken',
  'correctie',
  'niet_langer_openbaar',
  'persoonsgegevens',
  'overig',
] as const satisfies readonly components['schemas']['Verwijderreden'][];
export type Verwijderreden = (typeof VERWIJDERREDENEN)[number];

function isSequenceNumber(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 1;
}

export function sequenceNumberOf({ sequenceNumber }: JsonObject): number | undefined {
  return isSequenceNumber(sequenceNumber) ? sequenceNumber : undefined;
}

export function redactedNumbers({ op, geredigeerdeSequenceNumbers: numbers }: JsonObject): readonly number[] {
  return op === 'redact' && Array.isArray(numbers) ? numbers.filter(isSequenceNumber) : [];
}

export function cameFrom({ herkomst }: JsonObject, feedUrl: string): boolean {
  return isRecord(herkomst) && herkomst.feedUrl === feedUrl;
}

export type JudgedRecord =
  | { readonly op: 'upsert'; readonly resourceType: ResourceType; readonly data: JsonObject }
  | { readonly op: 'delete'; readonly resourceType: ResourceType }
  | { readonly fault: string };

/** Checks the form of an upsert or a delete; `readResource` reads its `resource`. */
export function judgeRecord({ op, resourceType, gewijzigdOp, storedAt, data }: JsonObject): JudgedRecord {
  if (!isResourceType(resourceType)) return { fault: 'resourceType is not known' };
  if (op !== 'upsert' && op !== 'delete') return { fault: 'op is not known' };
  if (gewijzigdOp !== undefined && gewijzigdOp !== null && !isMoment(gewijzigdOp)) {
    return { fault: 'gewijzigdOp is not a date and time' };
  }
  if (!isMoment(storedAt)) return { fault: 'storedAt is not a date and time' };
  if (op === 'delete') return { op, resourceType };
  if (!isRecord(data)) return { fault: 'an upsert has no data' };
  const fault = unwritable(data);
  return fault === undefined ? { op, resourceType, data } : { fault: `data ${fault}` };
}

/** `contentHash` of a resource: SHA-256 over its canonical JSON. @throws {CanonicalFormError} when it has no canonical form */
export function contentHash(data: unknown): string {
  return `sha256:${hash('sha256', canonicalJson(data))}`;
}

/** How an upsert's hash compares with ours; the draft does not define how a hash is made. */
export type HashVerdict = 'matches' | 'differs' | 'absent';

/** Compares the `contentHash` of an upsert with that of its data; `undefined` without data, or when they have no canonical form. */
export function judgeHash({ data, contentHash: given }: JsonObject): HashVerdict | undefined {
  if (!isRecord(data)) return undefined;
  if (given === undefined || given === null || given === '') return 'absent';
  try {
    return contentHash(data) === given ? 'matches' : 'differs';
  } catch {
    return undefined;
  }
}
