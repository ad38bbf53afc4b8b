import { isRecord } from '../../../../lib/json/json-value.ts';
import type { WindowRequest } from '../../supplier/source-adapter.ts';
import type { NotubizClient } from '../client.ts';
import type { IssueLog } from '../issue-log.ts';
import type { MappingContext } from '../map/context.ts';
import { isRefusal, NotubizError, refusalIn } from '../notubiz-error.ts';
import { type ModuleItemReference, type RegisterItem, readRegisterItem } from '../parse/document.ts';
import type { JsonObject } from '../parse/values.ts';

/** What the parts of one reading share. */
export interface ReadingSession {
  readonly client: NotubizClient;
  readonly request: WindowRequest;
  readonly issues: IssueLog;
  readonly context: MappingContext;
  /** Register items that were requested, by path: many agenda items refer to the same one. */
  readonly items: Map<string, Promise<ItemOutcome>>;
  /** Names of the registers, by id, as soon as they are read. */
  readonly registers: Map<string, string>;
}

type ItemOutcome = { readonly kind: 'read'; readonly item: RegisterItem } | { readonly kind: 'refused' | 'failed' };

/**
 * The result of fetching one object.
 * - `found`: the object
 * - `refused`: the supplier does not show it to the public
 * - `missing`: the supplier does not have it
 * - `failed`: it is not known; an issue says why
 */
export type OneOutcome =
  | { readonly kind: 'found'; readonly raw: JsonObject }
  | { readonly kind: 'refused' | 'failed' | 'missing' };

export interface Fetcher {
  readonly client: NotubizClient;
  readonly issues: IssueLog;
  readonly request: { readonly signal: AbortSignal };
}

/** Fetches the object under `member` in the response of a path. A refusal is status 401 or 403, or 200 with a message. */
export async function fetchOne(fetcher: Fetcher, path: string, member: string): Promise<OneOutcome> {
  const { client, issues, request } = fetcher;
  try {
    const answer = await client.get(path, {}, request.signal);
    if (isRecord(answer) && isRecord(answer[member])) return { kind: 'found', raw: answer[member] };
    const refusal = refusalIn(answer);
    if (refusal !== undefined) {
      issues.add('refused', path, refusal);
      return { kind: 'refused' };
    }
    const message = isRecord(answer) && typeof answer.message === 'string' ? answer.message.slice(0, 200) : undefined;
    issues.add('unexpected-answer', path, message ?? `has no ${member}`);
    return { kind: 'failed' };
  } catch (error) {
    if (!(error instanceof NotubizError)) throw error;
    if (isRefusal(error)) {
      issues.add('refused', path, error.message);
      return { kind: 'refused' };
    }
    if (error.status === 404 || error.status === 410) return { kind: 'missing' };
    issues.add('call-failed', path, error.message);
    return { kind: 'failed' };
  }
}

/** As `fetchOne`, for an object that the supplier itself named: when it is missing, that is an issue. */
export async function fetchNamed(fetcher: Fetcher, path: string, member: string): Promise<OneOutcome> {
  const outcome = await fetchOne(fetcher, path, member);
  if (outcome.kind !== 'missing') return outcome;
  fetcher.issues.add('call-failed', path, 'the supplier names it and does not have it');
  return { kind: 'failed' };
}

/** Reads a register item that something refers to; once per reading. */
export function readRegisterEntry(session: ReadingSession, reference: ModuleItemReference): Promise<ItemOutcome> {
  const known = session.items.get(reference.path);
  if (known !== undefined) return known;
  const outcome = fetchRegisterItem(session, reference);
  session.items.set(reference.path, outcome);
  return outcome;
}

async function fetchRegisterItem(session: ReadingSession, { id, path }: ModuleItemReference): Promise<ItemOutcome> {
  const outcome = await fetchNamed(session, path, 'item');
  if (outcome.kind !== 'found') return { kind: outcome.kind === 'refused' ? 'refused' : 'failed' };
  const issue = session.issues.at(path);
  const item = readRegisterItem(outcome.raw, issue);
  if (item === undefined) return { kind: 'failed' };
  if (item.id !== id) {
    issue('unexpected-answer', `is register item ${item.id}`);
    return { kind: 'failed' };
  }
  return { kind: 'read', item };
}
