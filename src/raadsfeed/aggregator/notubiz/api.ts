/** The calls to NotuBiz: one object, a list over its pages, and the names of attributes, bodies and registers. */
import { isRecord, type JsonObject } from '../../../lib/json/json-value.ts';
import type { IssueLog, IssueSink } from '../supplier/issue-log.ts';
import {
  ANY,
  createReader,
  ID,
  listIn,
  listOf,
  NAME,
  objectOf,
  recordIn,
  STRING,
  type ValueOf,
} from '../supplier/read-answer.ts';
import { readInHalves } from '../supplier/read-in-halves.ts';
import type { WindowRequest } from '../supplier/source-adapter.ts';
import type { Found } from '../supplier/supplier.ts';
import { SupplierClient, type SupplierClientOptions, SupplierError } from '../supplier/supplier-client.ts';
import { type RegisterItem, readPagination } from './schema.ts';

const PUBLIC_BASE = 'https://api.notubiz.nl';
const VERSION = '1.17.0';

export type NotubizClientOptions = Partial<Omit<SupplierClientOptions, 'query' | 'allowPrivate' | 'base'>> & {
  readonly base?: string | undefined;
};

export class NotubizClient extends SupplierClient {
  constructor({ base = PUBLIC_BASE, ...options }: NotubizClientOptions = {}) {
    // An operator may have configured a private address.
    super({ base, allowPrivate: base !== PUBLIC_BASE, query: { format: 'json', version: VERSION }, ...options });
  }
}

export interface Fetcher {
  readonly client: NotubizClient;
  readonly issues: IssueLog;
  readonly request: WindowRequest;
}

export interface Session extends Fetcher {
  readonly now: Date;
  readonly labels: Names;
  readonly gremia: Names;
  /** Woo categories by `type:<name>` of a document, or by `register:<name or number>` where that has none; in lower case. */
  readonly categories: ReadonlyMap<string, string>;
  /** Register items by path: many agenda items refer to the same one. */
  readonly referred: Map<string, Promise<Found<RegisterItem>>>;
  readonly registers: Map<string, string>;
  /** Of each meeting, hidden parts included. */
  readonly shown: Map<string, Counts>;
}

export interface Counts {
  readonly items: number;
  readonly documents: number;
}

/** A message under status 200, in place of an answer. */
function messageOf(answer: unknown): string | undefined {
  return isRecord(answer) && typeof answer.message === 'string' ? answer.message.slice(0, 200) : undefined;
}

function isRefusal(message: string | undefined): message is string {
  return message !== undefined && /\bno rights\b/i.test(message);
}

function isRefused({ status }: SupplierError): boolean {
  return status === 401 || status === 403;
}

/** Fetches the object under `member`. A refusal, by status 401 or 403 or by a message under 200, means that it is not public. */
export async function fetchOne(
  { client, issues, request }: Fetcher,
  path: string,
  member: string,
): Promise<Found<JsonObject>> {
  const refuse = (detail: string): Found<JsonObject> => {
    issues.add('refused', path, detail);
    return { kind: 'hidden' };
  };
  try {
    const answer = await client.get(path, {}, request.signal);
    const said = messageOf(answer);
    const raw = recordIn(answer, member, said === undefined ? 'id' : member);
    if (raw !== undefined) return { kind: 'found', value: raw };
    const message = said ?? `has no ${member}`;
    if (isRefusal(message)) return refuse(message);
    issues.add('unexpected-answer', path, message);
  } catch (error) {
    if (!(error instanceof SupplierError)) throw error;
    if (error.isMissing) return { kind: 'missing' };
    if (isRefused(error)) return refuse(error.message);
    issues.failed(path, error);
  }
  return { kind: 'failed' };
}

/** As `fetchOne`, for an object that the supplier itself named: then a missing one is an issue. */
export async function fetchNamed(fetcher: Fetcher, path: string, member: string): Promise<Found<JsonObject>> {
  const outcome = await fetchOne(fetcher, path, member);
  if (outcome.kind !== 'missing') return outcome;
  fetcher.issues.add('call-failed', path, 'the supplier names it and does not have it');
  return { kind: 'failed' };
}

interface ListedObject {
  readonly key: string;
  readonly raw: JsonObject;
}

const MAX_PAGES = 1000;

type Member = 'events' | 'items';
type Query = Readonly<Record<string, string>>;

/** By pages, and in halves where the supplier cannot serve the window whole; each object once. A register (of `items`) that is refused is empty. */
export async function listWindow(
  fetcher: Fetcher,
  path: string,
  member: Member,
  query: Query = {},
): Promise<readonly ListedObject[]> {
  const { issues, request } = fetcher;
  try {
    return await readInHalves({
      issues,
      request,
      path,
      // Wide windows fail with 404, time out, or come back unreadable.
      isTooLarge: ({ passing, kind, status }) => passing || kind === 'unreadable' || status === 404,
      read: async ({ from, to }, divisible) => {
        const dates = { date_from: `${from} 00:00:00`, date_to: `${to} 23:59:59` };
        return await listPages(fetcher, path, member, { ...query, ...dates }, divisible ? 2 : undefined);
      },
    });
  } catch (error) {
    if (!(error instanceof SupplierError)) throw error;
    if (isRefused(error)) issues.add(member === 'items' ? 'refused' : 'call-failed', path, error.message);
    else issues.failed(path, error);
    return [];
  }
}

/** @throws {SupplierError} when any page fails; a message of refusal counts as status 403 */
async function listPages(
  { client, issues, request }: Fetcher,
  path: string,
  member: Member,
  query: Query,
  attempts: number | undefined,
): Promise<readonly ListedObject[]> {
  const issue = issues.at(path);
  const found = new Map<string, ListedObject>();
  let range: Query = {};
  for (let page = 1; page <= MAX_PAGES; page += 1) {
    const answer = await client.get(path, { ...query, ...range, page: String(page) }, request.signal, attempts);
    const message = messageOf(answer);
    if (isRefusal(message)) throw new SupplierError('status', message, { status: 403 });
    const shown = listIn(answer, member);
    if (shown === undefined) throw new SupplierError('unreadable', `the answer has no list ${member}`);
    const before = found.size;
    for (const raw of shown) {
      const key = isRecord(raw) ? String(raw.id) : '';
      if (!isRecord(raw) || !/^[1-9]\d{0,17}$/.test(key)) {
        issue('unexpected-answer', `one of ${member} is not an object with an id`);
      } else if (!found.has(key)) found.set(key, { key, raw });
    }
    const isGrowing = found.size > before;
    // Without an envelope nothing marks the end of the list: reading continues while pages give something new.
    const { total, more, next } = isRecord(answer)
      ? paginationOf(answer, member, issue)
      : { total: 0, more: isGrowing, next: undefined };
    // The same holds for a register in ranges without an end.
    const hasMore = more || (member === 'items' && found.size < total && isGrowing);
    range = next === undefined ? {} : { list_start: String(next) };
    if (hasMore && (next === undefined ? shown.length > 0 : isGrowing)) continue;
    const where = `${query.date_from?.slice(0, 10)} to ${query.date_to?.slice(0, 10)}`;
    if (more && shown.length === 0) issue('unexpected-answer', `${where}: an empty page says that there is more`);
    if (found.size < total) issue('count-mismatch', `${where}: ${total} announced, ${found.size} shown`);
    return [...found.values()];
  }
  throw new SupplierError('unreadable', `more than ${MAX_PAGES} pages`);
}

/** All recorded forms of `pagination`: pages, ranges of a register, or nothing: then a register is complete. */
function paginationOf(
  answer: JsonObject,
  member: Member,
  issue: IssueSink,
): { readonly total: number; readonly more: boolean; readonly next?: number } {
  const said = readPagination(answer.pagination ?? {}, issue) ?? {};
  const { page = 0, total_pages: pages = 0, total_items: items = 0 } = said;
  const { total_results: total, list_end: end, has_more_pages: more } = said;
  if (member === 'items' && Object.keys(said).length === 0) return { total: 0, more: false };
  if (total !== undefined && more === undefined) {
    return end === undefined ? { total, more: false } : { total, more: end < total, next: end + 1 };
  }
  if (more === undefined) issue('unexpected-answer', 'pagination does not say whether there is more');
  return { total: items, more: /^(?:true|1)$/.test(more ?? '') || (page > 0 && page < pages) };
}

export type Names = ReadonlyMap<string, string>;

const ATTRIBUTES = objectOf({}, { id: STRING });
const FOLDER = objectOf({}, { fields: objectOf({}, { field: ANY }) });
const ORGANISATION = objectOf({}, { '@attributes': ATTRIBUTES, settings: objectOf({}, { folder: FOLDER }) });
const NAMES = listOf(objectOf({ id: ID }, { title: NAME, name: NAME, custom_name: NAME }));

const readOrganisations = createReader(objectOf({ organisation: listOf(ORGANISATION) }));
const readOrganisation = createReader(ORGANISATION);
const readFields = createReader(objectOf({ field: listOf(objectOf({}, { '@attributes': ATTRIBUTES, label: NAME })) }));

/** Without these names nothing can be mapped correctly: then `undefined`, and an issue. An organisation may have no labels. */
export async function readReference(fetcher: Fetcher): Promise<{ labels: Names; gremia: Names } | undefined> {
  const { organisationId } = fetcher.request.source;
  const [labels, gremia] = await Promise.all([
    readLabels(fetcher, organisationId),
    readGremia(fetcher, organisationId),
  ]);
  return labels === undefined || gremia === undefined ? undefined : { labels, gremia };
}

/** An organisation that the supplier does not list is fetched directly. */
async function readLabels(fetcher: Fetcher, id: string): Promise<Names | undefined> {
  const { issues } = fetcher;
  const list = await fetchOne(fetcher, '/organisations', 'organisations');
  if (list.kind === 'failed') return undefined;
  const all = list.kind === 'found' ? readOrganisations(list.value, issues.at('/organisations'))?.organisation : [];
  const listed = labelsOf(all?.find((organisation) => organisation['@attributes']?.id === id));
  if (listed.size > 0) return listed;
  const path = `/organisations/${id}`;
  const direct = await fetchOne(fetcher, path, 'organisation');
  if (direct.kind === 'failed') return undefined;
  const labels = labelsOf(direct.kind === 'found' ? readOrganisation(direct.value, issues.at(path)) : undefined);
  if (labels.size === 0) issues.add('labels-missing', path, 'no labels of attributes; the usual numbers are taken');
  return labels;
}

/** A single field is not in a list. */
function labelsOf(organisation: ValueOf<typeof ORGANISATION> | undefined): Names {
  const field = organisation?.settings?.folder?.fields?.field;
  const fields = readFields({ field: isRecord(field) ? [field] : field }, () => undefined)?.field ?? [];
  const labels = new Map<string, string>();
  for (const { '@attributes': attributes, label } of fields) {
    if (attributes?.id !== undefined && label !== undefined) labels.set(attributes.id, label);
  }
  return labels;
}

async function readGremia({ client, issues, request }: Fetcher, id: string): Promise<Names | undefined> {
  const path = `/organisations/${id}/gremia`;
  try {
    return readNames(await client.get(path, {}, request.signal), 'gremia', issues.at(path));
  } catch (error) {
    if (!(error instanceof SupplierError)) throw error;
    const isAbsent = error.kind === 'status' && !error.passing;
    if (isAbsent) issues.add('unexpected-answer', path, error.message);
    else issues.failed(path, error);
    return isAbsent ? new Map() : undefined;
  }
}

/** Names of bodies or registers; the organisation's own name for a register takes precedence. */
export function readNames(answer: unknown, list: 'gremia' | 'modules', issue: IssueSink): Names {
  const wrapped = Array.isArray(answer) ? { [list]: answer } : answer;
  const found = createReader(objectOf({ [list]: NAMES }))(wrapped, issue)?.[list] ?? [];
  return new Map(found.map(({ id, title, custom_name, name }) => [id, title ?? custom_name ?? name ?? '']));
}
