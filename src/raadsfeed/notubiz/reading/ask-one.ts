import { isRecord } from '../../../kernel/json-value.ts';
import type { NotubizClient } from '../client/notubiz-client.ts';
import { NotubizError } from '../client/notubiz-error.ts';
import type { IssueLog } from '../issue-log.ts';
import type { JsonObject } from '../values/scalars.ts';
import { isRefusal, refusalIn } from './refusal.ts';

/**
 * What became of asking for one thing.
 * - `found`: the thing
 * - `refused`: the supplier does not show it to the public
 * - `missing`: the supplier does not have it
 * - `failed`: it is not known; an issue says why
 */
export type OneOutcome =
  | { readonly kind: 'found'; readonly raw: JsonObject }
  | { readonly kind: 'refused' | 'failed' | 'missing' };

export interface Asker {
  readonly client: NotubizClient;
  readonly issues: IssueLog;
  readonly request: { readonly signal: AbortSignal };
}

/** Asks for the thing that stands under `member` in the answer of a path. A refusal is status 401 or 403, or 200 with a message. */
export async function askOne(asker: Asker, path: string, member: string): Promise<OneOutcome> {
  const { client, issues, request } = asker;
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

/** As `askOne`, for a thing that the supplier itself named: that it is missing is an issue. */
export async function askNamed(asker: Asker, path: string, member: string): Promise<OneOutcome> {
  const outcome = await askOne(asker, path, member);
  if (outcome.kind !== 'missing') return outcome;
  asker.issues.add('call-failed', path, 'the supplier names it and does not have it');
  return { kind: 'failed' };
}
