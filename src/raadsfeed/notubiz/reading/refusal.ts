import { isRecord } from '../../../kernel/json-value.ts';
import type { NotubizError } from '../client/notubiz-error.ts';

/** What the supplier says when it does not show something to the public, with status 200; else `undefined`. */
export function refusalIn(answer: unknown): string | undefined {
  if (!isRecord(answer) || typeof answer.message !== 'string') return undefined;
  return /\bno rights\b/i.test(answer.message) ? answer.message.slice(0, 200) : undefined;
}

/** Whether a status says so. */
export function isRefusal({ status }: NotubizError): boolean {
  return status === 401 || status === 403;
}
