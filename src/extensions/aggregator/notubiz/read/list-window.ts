import { isRecord } from '../../../../lib/json/json-value.ts';
import type { DateWindow } from '../../supplier/source-adapter.ts';
import { halves } from '../../supplier/windows.ts';
import type { IssueSink } from '../issue-log.ts';
import { isRefusal, NotubizError, refusalIn } from '../notubiz-error.ts';
import { readPagination } from '../parse/meeting.ts';
import { identifier, type JsonObject } from '../parse/values.ts';
import type { ReadingSession } from './session.ts';

/** More pages than any quarter has: a list that never ends is not read for ever. */
const MAX_PAGES = 1000;

interface ListSpecification {
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  /** The member of the answer that holds the list. */
  readonly member: string;
  /** A list without `pagination` is all there is, as it is for registers. */
  readonly mayBeWhole: boolean;
  /** Whether the supplier may refuse this list: then it counts as empty, and the window can be complete. */
  readonly mayBeRefused: boolean;
}

/** The supplier does not show a list to the public. */
class ListRefusedError extends Error {
  override readonly name = 'ListRefusedError';
}

/** Lists everything of the session's window, by pages and where need be by smaller windows; each thing once, by its id. */
export async function listWindow(session: ReadingSession, list: ListSpecification): Promise<readonly JsonObject[]> {
  const { issues, request } = session;
  try {
    const found = await listByHalves(request.window, {
      list: (window, divisible) => listPages(session, list, window, divisible),
      unread: ({ from, to }, reason) => issues.add('unread-days', list.path, `${from} to ${to}: ${reason}`),
    });
    return distinctById(found, issues.at(list.path), list.member);
  } catch (error) {
    if (!(error instanceof ListRefusedError) && !(error instanceof NotubizError)) throw error;
    const refused = error instanceof ListRefusedError && list.mayBeRefused;
    issues.add(refused ? 'refused' : 'call-failed', list.path, error.message);
    return [];
  }
}

/** @throws {NotubizError} when any page fails: half a list is not a list; {ListRefusedError} when the supplier refuses it */
async function listPages(
  session: ReadingSession,
  { path, query, member, mayBeWhole }: ListSpecification,
  window: DateWindow,
  divisible: boolean,
): Promise<readonly JsonObject[]> {
  const { client, request, issues } = session;
  const sink = issues.at(path);
  const dates = { date_from: `${window.from} 00:00:00`, date_to: `${window.to} 23:59:59` };
  const found: JsonObject[] = [];
  const ids = new Set<string | undefined>();
  let range: Record<string, string> = {};
  for (let page = 1; page <= MAX_PAGES; page += 1) {
    const answer = await getPage(
      client,
      path,
      { ...query, ...dates, ...range, page: String(page) },
      request.signal,
      divisible,
    );
    if (!isRecord(answer) || !Array.isArray(answer[member])) {
      throw new NotubizError('unreadable', `the answer has no list ${member}`);
    }
    const items = answer[member].filter(isRecord);
    if (items.length < answer[member].length) sink('unexpected-answer', `${member} holds something else than objects`);
    const before = ids.size;
    found.push(...items);
    for (const { id } of items) ids.add(identifier(id));
    const distinct = ids.size;
    const { totalItems, nextStart, ...said } = readPagination(answer, mayBeWhole, sink);
    // A list in ranges without an end is read on while it gives something new.
    const hasMore = said.hasMore || (mayBeWhole && distinct < (totalItems ?? 0) && distinct > before);
    range = nextStart === undefined ? {} : { list_start: String(nextStart) };
    const isNew = nextStart === undefined ? items.length > 0 : distinct > before;
    if (hasMore && isNew) continue;
    const announced = totalItems ?? 0;
    if (said.hasMore && items.length === 0)
      sink('unexpected-answer', `${window.from} to ${window.to}: an empty page says that there is more`);
    if (distinct < announced) {
      sink('count-mismatch', `${window.from} to ${window.to}: ${announced} announced, ${distinct} shown`);
    }
    return found;
  }
  throw new NotubizError('unreadable', `more than ${MAX_PAGES} pages`);
}

async function getPage(
  client: ReadingSession['client'],
  path: string,
  query: Readonly<Record<string, string>>,
  signal: AbortSignal,
  divisible: boolean,
): Promise<unknown> {
  try {
    const answer = await client.get(path, query, signal, divisible ? 2 : undefined);
    const refusal = refusalIn(answer);
    if (refusal !== undefined) throw new ListRefusedError(refusal);
    return answer;
  } catch (error) {
    if (error instanceof NotubizError && isRefusal(error)) throw new ListRefusedError(error.message);
    throw error;
  }
}

function distinctById(found: readonly JsonObject[], issue: IssueSink, member: string): readonly JsonObject[] {
  const byId = new Map<string, JsonObject>();
  for (const raw of found) {
    const id = identifier(raw.id);
    if (id === undefined) issue('unexpected-answer', `one of ${member} has no id`);
    else if (!byId.has(id)) byId.set(id, raw);
  }
  return [...byId.values()];
}

interface ListCalls<T> {
  /**
   * Lists one window.
   * @param divisible whether it is requested in halves when this fails
   */
  readonly list: (window: DateWindow, divisible: boolean) => Promise<readonly T[]>;
  /** Days that could not be listed, and why. */
  readonly unread: (window: DateWindow, reason: string) => void;
}

/** Consecutive single days that may be unavailable before the supplier counts as unavailable. */
const MAX_UNAVAILABLE = 3;
/** Single days that may fail in another way before anything was listed at all. */
const MAX_FAILED = 7;

/**
 * Lists a window, in halves where the supplier cannot serve it whole, down to a day. When it serves nothing at all, the rest is
 * left for another reading: a quarter would otherwise take some hundred and eighty calls while the supplier is down.
 * @throws {NotubizError} for a failure that a smaller window does not prevent
 */
async function listByHalves<T>(window: DateWindow, calls: ListCalls<T>): Promise<readonly T[]> {
  let unavailable = 0;
  let failed = 0;
  let listed = false;
  const read = async (part: DateWindow): Promise<readonly T[]> => {
    if (unavailable >= MAX_UNAVAILABLE || (failed >= MAX_FAILED && !listed)) {
      calls.unread(part, 'left unread: the supplier does not answer');
      return [];
    }
    const parts = halves(part);
    try {
      const found = await calls.list(part, parts !== undefined);
      unavailable = 0;
      listed = true;
      return found;
    } catch (error) {
      if (!(error instanceof NotubizError) || !mayBeTooLarge(error)) throw error;
      if (parts !== undefined) return [...(await read(parts[0])), ...(await read(parts[1]))];
      unavailable = error.passing ? unavailable + 1 : 0;
      failed += 1;
      calls.unread(part, error.message);
      return [];
    }
  };
  return await read(window);
}

/** Wide windows fail with 404, time out, or come as something that cannot be read. */
function mayBeTooLarge(error: NotubizError): boolean {
  return error.passing || error.kind === 'unreadable' || error.status === 404;
}
