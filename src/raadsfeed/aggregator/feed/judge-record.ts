/** Checks single records of a source by the published draft: what it allows passes unchanged, and an invalid record is refused alone. */
import { cameFrom, type HashVerdict, judgeHash, judgeRecord, VERWIJDERREDENEN } from '../../../lib/feed/record.ts';
import { normaliseOrganisatiecode, readResource, resourceKey } from '../../../lib/feed/resource.ts';
import { isRecord, type JsonObject } from '../../../lib/json/json-value.ts';
import { unwritable } from '../../../lib/json/parse-untrusted.ts';
import { type Change, type Origin, prepareChange, type Removal } from '../../domain/change.ts';
import type { LineValidator } from '../../writer/line-validator.ts';

/** `unnamed`: the service document does not name the organisation; `elsewhere`: another source has it. */
export type Ownership = 'yes' | 'unnamed' | 'elsewhere';

export interface RecordContext {
  readonly feedUrl: string;
  readonly ownFeedUrl: string;
  readonly validate: LineValidator;
  /** Whether its document names an organisation now. */
  readonly takes: (organisatiecode: string) => Ownership;
  /** Organisations of this source, whether or not its document names them now. */
  readonly owns: (organisatiecode: string) => boolean;
}

/** `undefined`: the record is from this feed itself, or of an organisation that another source has. */
export type Verdict =
  | { readonly changes: readonly Change[]; readonly hash?: HashVerdict | undefined }
  | { readonly faults: readonly string[] }
  | undefined;

/** Checks an upsert or a delete; redactions are carried out unchecked (`redactions.ts`). */
export function checkRecord(record: JsonObject, sequenceNumber: number, context: RecordContext): Verdict {
  if (cameFrom(record, context.ownFeedUrl)) return undefined;
  const resource = readResource(record);
  if (resource === undefined) return refused('resource does not identify an organisation and a resource');
  const taken = context.takes(resource.organisatiecode);
  if (taken === 'elsewhere') return undefined;
  if (taken === 'unnamed') return refused(`${resource.organisatiecode} is not named in the service document`);
  const judged = judgeRecord(record);
  if ('fault' in judged) return refused(judged.fault);
  const other = otherMembers(record);
  const origin: Origin = {
    herkomst: { feedUrl: context.feedUrl, sequenceNumber },
    ...(typeof record.gewijzigdOp === 'string' && { gewijzigdOp: record.gewijzigdOp }),
    other: other.members,
  };
  if (judged.op === 'delete') return { changes: [{ ...judged, resource, ...reasonOf(record), ...origin }] };
  if (other.fault !== undefined) return refused(`the part with unknown members ${other.fault}`);
  const data = withLowerCodes(judged.data);
  const address = invalidAddress(data);
  if (address !== undefined) return refused(`${address} is not a web address (http or https)`);
  const checked = context.validate({ op: 'upsert', resourceType: record.resourceType, data });
  if ('faults' in checked) return checked;
  // Of the data as the source wrote it, before its codes were changed.
  const hash = judgeHash(record);
  const foreign = hash === 'differs' && typeof record.contentHash === 'string' ? record.contentHash : undefined;
  if (foreign !== undefined && !PRINTABLE.test(foreign)) return refused('contentHash is not a hash');
  const change = prepareChange(checked.line, { ...origin, ...(foreign !== undefined && { sourceHash: foreign }) });
  if (resourceKey(change) !== resourceKey({ ...change, resource })) {
    return refused('data belongs to another resource than `resource`');
  }
  return { changes: [change], hash };
}

function refused(fault: string): Verdict {
  return { faults: [fault] };
}

const PRINTABLE = /^[!-~]{1,200}$/;

const MAX_REASON = 2000;

const KNOWN_MEMBERS = new Set([
  ...['sequenceNumber', 'op', 'resourceType', 'resource', 'resourceUrl', 'contentHash', 'storedAt', 'gewijzigdOp'],
  ...['herkomst', 'data', 'verwijderreden', 'toelichting', 'geredigeerdeSequenceNumbers'],
]);

/** Bytes of unknown members as JSON: every response with the record has them. */
const MAX_OTHER_BYTES = 65_536;

/** Unknown members, if the database can hold them; `fault`: why they cannot be published as they are. */
export function otherMembers(record: JsonObject): { readonly members?: JsonObject; readonly fault?: string } {
  const members = Object.fromEntries(Object.entries(record).filter(([name]) => !KNOWN_MEMBERS.has(name)));
  if (Object.keys(members).length === 0) return {};
  const fault = unwritable(members);
  if (fault !== undefined) return { fault };
  const text = JSON.stringify(members);
  if (Buffer.byteLength(text) > MAX_OTHER_BYTES) return { fault: `takes more than ${MAX_OTHER_BYTES} bytes` };
  return /\\u(0000|[dD][89a-fA-F])/.test(text) ? {} : { members };
}

/** The reason of a removal. An unknown reason does not stop it: content that was removed there must not stay here over a formality. */
export function reasonOf(record: JsonObject): Pick<Removal, 'verwijderreden' | 'toelichting'> {
  const verwijderreden = VERWIJDERREDENEN.find((known) => known === record.verwijderreden);
  if (verwijderreden === undefined) return { verwijderreden: 'overig', toelichting: 'De bron gaf geen bekende reden.' };
  const given = typeof record.toelichting === 'string' ? record.toelichting.replaceAll('\0', '') : '';
  const toelichting = given.slice(0, MAX_REASON).toWellFormed();
  if (toelichting !== '') return { verwijderreden, toelichting };
  return { verwijderreden, ...(verwijderreden === 'overig' && { toelichting: 'De bron gaf geen toelichting.' }) };
}

const CODES = new Set(['organisatiecode', 'gemeente', 'provincie', 'waterschap']);
const UPPER_CODE = /"(?:G[Mm]|gM|P[Vv]|pV|W[Ss]|wS)\d{2,4}"/;

/** The same object if its organisation codes are in lower case already. */
function withLowerCodes(data: JsonObject): JsonObject {
  const text = JSON.stringify(data);
  if (!UPPER_CODE.test(text)) return data;
  const lower: unknown = JSON.parse(text, (name, value: unknown) =>
    CODES.has(name) && typeof value === 'string' ? (normaliseOrganisatiecode(value) ?? value) : value,
  );
  return isRecord(lower) ? lower : data;
}

/** References have one; deeper values are not published as links. */
const MAX_DEPTH = 8;

/** The path of the first member that is named as an address but is not a web address: readers would follow it. */
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
