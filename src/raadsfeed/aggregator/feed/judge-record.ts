/**
 * Checks single records of a source by the published draft, not by our stricter contract: whatever the draft allows passes unchanged, and
 * an invalid record is refused alone.
 */

import { unwritable } from '../../../lib/json/json-text.ts';
import { isRecord } from '../../../lib/json/json-value.ts';
import { type Change, type Origin, prepareChange, VERWIJDERREDENEN } from '../../domain/change.ts';
import { isResourceType, normaliseOrganisatiecode, type Resource } from '../../domain/resource.ts';
import type { LineValidator } from '../../writer/line-validator.ts';
import { judgeHash } from './page.ts';

/** How an organisation is taken from a source. `unnamed`: its document does not name it; `elsewhere`: another source has it. */
export type Ownership = 'yes' | 'unnamed' | 'elsewhere';

export interface RecordContext {
  /** `feedUrl` of the source: with the number it is the origin of what is published. */
  readonly feedUrl: string;
  /** Of this feed itself. */
  readonly ownFeedUrl: string;
  /** By the draft: see `createLineValidator`. */
  readonly validate: LineValidator;
  readonly takes: (organisatiecode: string) => Ownership;
}

/** The result of checking one record of a source. */
export type Verdict =
  /** `hash`: what that of an upsert says of its data. */
  | {
      readonly kind: 'taken';
      readonly changes: readonly Change[];
      readonly hash?: 'matches' | 'differs' | 'absent' | undefined;
    }
  /** It is from this feed itself, or of an organisation that is taken from another source. */
  | { readonly kind: 'passed-over' }
  | { readonly kind: 'refused'; readonly faults: readonly string[] };

type SourceRecord = Readonly<Record<string, unknown>>;

const MOMENT = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?(Z|[+-]\d{2}:\d{2})$/i;

/** Checks an upsert or a delete; redactions are carried out unchecked (`redactions.ts`). */
export function checkRecord(record: SourceRecord, sequenceNumber: number, context: RecordContext): Verdict {
  const { op, resourceType, gewijzigdOp } = record;
  if (cameFrom(record, context.ownFeedUrl)) return { kind: 'passed-over' };
  const resource = resourceOf(record);
  if (resource === undefined) return refused('resource does not identify an organisation and a resource');
  const taken = context.takes(resource.organisatiecode);
  if (taken === 'elsewhere') return { kind: 'passed-over' };
  if (taken === 'unnamed') return refused(`${resource.organisatiecode} is not named in the service document`);
  if (!isResourceType(resourceType)) return refused('resourceType is not known');
  if (op !== 'upsert' && op !== 'delete') return refused('op is not known');
  if (gewijzigdOp !== undefined && gewijzigdOp !== null && !isMoment(gewijzigdOp)) {
    return refused('gewijzigdOp is not a date and time');
  }
  if (!isMoment(record.storedAt)) return refused('storedAt is not a date and time');
  const other = otherMembers(record);
  const origin: Origin = {
    herkomst: { feedUrl: context.feedUrl, sequenceNumber },
    ...(typeof gewijzigdOp === 'string' ? { gewijzigdOp } : {}),
    other: other.members,
  };
  if (op === 'delete') {
    return { kind: 'taken', changes: [{ op, resourceType, resource, ...reasonOf(record), ...origin }] };
  }
  if (other.fault !== undefined) return refused(`what it has besides the members that are known ${other.fault}`);
  return checkUpsert(record, resource, origin, context);
}

function checkUpsert(record: SourceRecord, resource: Resource, origin: Origin, { validate }: RecordContext): Verdict {
  if (!isRecord(record.data)) return refused('an upsert has no data');
  const fault = unwritable(record.data);
  if (fault !== undefined) return refused(`data ${fault}`);
  const data = withLowerCodes(record.data);
  const address = invalidAddress(data);
  if (address !== undefined) return refused(`${address} is not a web address (http or https)`);
  const checked = validate({ op: 'upsert', resourceType: record.resourceType, data });
  if ('faults' in checked) return { kind: 'refused', faults: checked.faults };
  // The hash of the data as the source wrote it, before its codes were changed.
  const hash = judgeHash(record);
  const foreign = hash === 'differs' && typeof record.contentHash === 'string' ? record.contentHash : undefined;
  if (foreign !== undefined && !PRINTABLE.test(foreign)) return refused('contentHash is not a hash');
  const change = prepareChange(checked.line, { ...origin, ...(foreign === undefined ? {} : { sourceHash: foreign }) });
  const { organisatiecode, bronidentificatie } = change.resource;
  if (organisatiecode !== resource.organisatiecode || bronidentificatie !== resource.bronidentificatie) {
    return refused('data is of another resource than resource names');
  }
  return { kind: 'taken', changes: [change], hash };
}

function refused(fault: string): Verdict {
  return { kind: 'refused', faults: [fault] };
}

function isMoment(value: unknown): boolean {
  return typeof value === 'string' && MOMENT.test(value) && !Number.isNaN(Date.parse(value));
}

/** What may be passed on as a hash of another form. */
const PRINTABLE = /^[!-~]{1,200}$/;

/** Whether an aggregator has this record from the feed at an address. */
export function cameFrom({ herkomst }: SourceRecord, feedUrl: string): boolean {
  return isRecord(herkomst) && herkomst.feedUrl === feedUrl;
}

/** The identity that a record names, with its code in lower case. */
export function resourceOf({ resource }: SourceRecord): Resource | undefined {
  if (!isRecord(resource) || typeof resource.organisatiecode !== 'string') return undefined;
  const organisatiecode = normaliseOrganisatiecode(resource.organisatiecode);
  const { bronidentificatie } = resource;
  if (organisatiecode === undefined || typeof bronidentificatie !== 'string') return undefined;
  const isUsable =
    bronidentificatie !== '' &&
    bronidentificatie.length <= MAX_NAME &&
    bronidentificatie.isWellFormed() &&
    !bronidentificatie.includes('\0');
  return isUsable ? { organisatiecode, bronidentificatie } : undefined;
}

/** Longest `bronidentificatie` that our addresses take. */
const MAX_NAME = 500;
const MAX_REASON = 2000;

const KNOWN_MEMBERS = new Set([
  ...['sequenceNumber', 'op', 'resourceType', 'resource', 'resourceUrl', 'contentHash', 'storedAt', 'gewijzigdOp'],
  ...['herkomst', 'data', 'verwijderreden', 'toelichting', 'geredigeerdeSequenceNumbers'],
]);

/** Bytes of the members of a record that we do not know, as JSON: they are in every response with the record. */
const MAX_OTHER_BYTES = 65_536;

/** The members that we do not know, if the database can hold them; `fault`: why they cannot be published as they are. */
export function otherMembers(record: SourceRecord): {
  readonly members?: Readonly<Record<string, unknown>>;
  readonly fault?: string;
} {
  const members = Object.fromEntries(Object.entries(record).filter(([name]) => !KNOWN_MEMBERS.has(name)));
  if (Object.keys(members).length === 0) return {};
  const fault = unwritable(members);
  if (fault !== undefined) return { fault };
  const text = JSON.stringify(members);
  if (Buffer.byteLength(text) > MAX_OTHER_BYTES) return { fault: `takes more than ${MAX_OTHER_BYTES} bytes` };
  return /\\u(0000|[dD][89a-fA-F])/.test(text) ? {} : { members };
}

/**
 * Why something was removed. It is removed even when we do not know the reason: what had to disappear there must not stay here for a
 * matter of form.
 */
export function reasonOf(
  record: SourceRecord,
): Pick<Extract<Change, { op: 'delete' | 'redact' }>, 'verwijderreden' | 'toelichting'> {
  const verwijderreden = VERWIJDERREDENEN.find((known) => known === record.verwijderreden);
  if (verwijderreden === undefined) {
    return { verwijderreden: 'overig', toelichting: 'De bron gaf geen bekende reden.' };
  }
  const given = typeof record.toelichting === 'string' ? record.toelichting.replaceAll('\0', '') : '';
  const toelichting = given.slice(0, MAX_REASON).toWellFormed();
  if (toelichting !== '') return { verwijderreden, toelichting };
  return verwijderreden === 'overig'
    ? { verwijderreden, toelichting: 'De bron gaf geen toelichting.' }
    : { verwijderreden };
}

const CODES = new Set(['organisatiecode', 'gemeente', 'provincie', 'waterschap']);
const UPPER_CODE = /"(?:G[Mm]|gM|P[Vv]|pV|W[Ss]|wS)\d{2,4}"/;

/** `data` with codes of organisations in lower case, in the organisation itself and in references; the same object when they are. */
function withLowerCodes(data: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const text = JSON.stringify(data);
  if (!UPPER_CODE.test(text)) return data;
  const lower: unknown = JSON.parse(text, (name, value: unknown) =>
    CODES.has(name) && typeof value === 'string' ? (normaliseOrganisatiecode(value) ?? value) : value,
  );
  return isRecord(lower) ? lower : data;
}

/** Depth to which addresses are searched: references have one, and deeper values are not published as links. */
const MAX_DEPTH = 8;

/** The first member that is named as an address and is not a web address: readers would follow it. */
function invalidAddress(value: unknown, at = 'data', depth = 0): string | undefined {
  if (typeof value !== 'object' || value === null || depth > MAX_DEPTH) return undefined;
  for (const [name, member] of Object.entries(value)) {
    const path = `${at}.${name}`;
    if (typeof member === 'string' && /(url|link)$/i.test(name) && !isWebAddress(member)) return path;
    const inner = invalidAddress(member, path, depth + 1);
    if (inner !== undefined) return inner;
  }
  return undefined;
}

function isWebAddress(text: string): boolean {
  return /^https?:\/\//i.test(text) && URL.canParse(text);
}
