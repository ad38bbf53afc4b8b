/** The calls to NotuBiz: one object, or a list over its pages. */
import { isRecord, type JsonObject } from '../../../lib/json/json-value.ts';
import type { IssueLog } from '../supplier/issue-log.ts';
import { listIn, recordIn } from '../supplier/read-answer.ts';
import { readInHalves } from '../supplier/read-in-halves.ts';
import type { DateWindow, WindowRequest } from '../supplier/source-adapter.ts';
import type { Found } from '../supplier/supplier.ts';
import { SupplierClient, type SupplierClientOptions, SupplierError } from '../supplier/supplier-client.ts';
import { readPagination } from './schema.ts';

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

interface ListSpecification {
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly member: string;
  /** A register without `pagination` is complete, and one that is refused counts as empty. */
  readonly isRegister: boolean;
}

interface ListedObject {
  /** Its id. */
  readonly key: string;
  readonly raw: JsonObject;
}

/** An endless list is abandoned. */
const MAX_PAGES = 1000;
/** Lists a window by pages, and in halves where the supplier cannot serve it whole; each object once. */
export async function listWindow(fetcher: Fetcher, list: ListSpecification): Promise<readonly ListedObject[]> {
  const { issues, request } = fetcher;
  const { path } = list;
  // Wide windows fail with 404, time out, or come back unreadable.
  const isTooLarge = ({ passing, kind, status }: SupplierError): boolean =>
    passing || kind === 'unreadable' || status === 404;
  try {
    return await readInHalves({
      ...{ issues, request, path, isTooLarge },
      read: (part, divisible) => listPages(fetcher, list, part, divisible),
    });
  } catch (error) {
    if (!(error instanceof SupplierError)) throw error;
    if (isRefused(error)) issues.add(list.isRegister ? 'refused' : 'call-failed', path, error.message);
    else issues.failed(path, error);
    return [];
  }
}

/** @throws {SupplierError} when any page fails; a message of refusal counts as status 403 */
async function listPages(
  fetcher: Fetcher,
  { path, query, member, isRegister }: ListSpecification,
  { from, to }: DateWindow,
  divisible: boolean,
): Promise<readonly ListedObject[]> {
  const issue = fetcher.issues.at(path);
  const found = new Map<string, ListedObject>();
  const dates = { date_from: `${from} 00:00:00`, date_to: `${to} 23:59:59` };
  let range: Record<string, string> = {};
  for (let page = 1; page <= MAX_PAGES; page += 1) {
    const wanted = { ...query, ...dates, ...range, page: String(page) };
    const answer = await fetcher.client.get(path, wanted, fetcher.request.signal, divisible ? 2 : undefined);
    const message = messageOf(answer);
    if (isRefusal(message)) throw new SupplierError('status', message, { status: 403 });
    const shown = listIn(answer, member);
    if (shown === undefined) throw new SupplierError('unreadable', `the answer has no list ${member}`);
    const before = found.size;
    for (const raw of shown) {
      const id = isRecord(raw) && /^[1-9]\d{0,17}$/.test(String(raw.id)) ? String(raw.id) : undefined;
      if (id === undefined) issue('unexpected-answer', `one of ${member} is not an object with an id`);
      else if (!found.has(id) && isRecord(raw)) found.set(id, { key: id, raw });
    }
    // Without an envelope nothing marks the end of the list: reading continues while pages give something new.
    const { total, more, next } = isRecord(answer)
      ? paginationOf(answer, isRegister, issue)
      : { total: 0, more: found.size > before, next: undefined };
    // The same holds for a list in ranges without an end.
    const hasMore = more || (isRegister && found.size < total && found.size > before);
    range = next === undefined ? {} : { list_start: String(next) };
    if (hasMore && (next === undefined ? shown.length > 0 : found.size > before)) continue;
    const where = `${from} to ${to}`;
    if (more && shown.length === 0) issue('unexpected-answer', `${where}: an empty page says that there is more`);
    if (found.size < total) issue('count-mismatch', `${where}: ${total} announced, ${found.size} shown`);
    return [...found.values()];
  }
  throw new SupplierError('unreadable', `more than ${MAX_PAGES} pages`);
}

/** All recorded forms of `pagination`: pages, ranges of a register, or nothing. */
function paginationOf(
  answer: JsonObject,
  isRegister: boolean,
  issue: ReturnType<IssueLog['at']>,
): { readonly total: number; readonly more: boolean; readonly next?: number } {
  const said = readPagination(answer.pagination ?? {}, issue) ?? {};
  const { page = 0, total_pages: pages = 0, total_items: items = 0 } = said;
  const { total_results: total, list_end: end, has_more_pages: more } = said;
  if (isRegister && Object.keys(said).length === 0) return { total: 0, more: false };
  if (total !== undefined && more === undefined) {
    return end === undefined ? { total, more: false } : { total, more: end < total, next: end + 1 };
  }
  if (more === undefined) issue('unexpected-answer', 'pagination does not say whether there is more');
  return { total: items, more: /^(?:true|1)$/.test(more ?? '') || (page > 0 && page < pages) };
}
