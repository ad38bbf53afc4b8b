import { isRecord } from '../../../lib/json/json-value.ts';
import type { OutboundError } from '../../../lib/outbound/outbound-error.ts';

/**
 * Why a call gave no usable response.
 * - `status`: an HTTP status other than 200
 * - `unavailable`: no connection, no answer in time, or it broke off
 * - `unreadable`: too large, or not JSON, or not what was requested
 */
type NotubizErrorKind = 'status' | 'unavailable' | 'unreadable';

/** A call to NotuBiz that failed, after the retries. */
export class NotubizError extends Error {
  override readonly name = 'NotubizError';
  readonly kind: NotubizErrorKind;
  /** Present with kind `status`. */
  readonly status: number | undefined;
  /** Milliseconds that the supplier asks to wait. */
  readonly retryAfter: number | undefined;

  constructor(
    kind: NotubizErrorKind,
    message: string,
    more: { status?: number; retryAfter?: number | undefined; cause?: unknown } = {},
  ) {
    super(message, more.cause === undefined ? {} : { cause: more.cause });
    this.kind = kind;
    this.status = more.status;
    this.retryAfter = more.retryAfter;
  }

  /** Whether the same call may well succeed later. */
  get passing(): boolean {
    if (this.kind === 'unavailable') return true;
    return this.status !== undefined && (this.status === 429 || this.status === 408 || this.status >= 500);
  }
}

const UNREADABLE: readonly string[] = [
  'too-large',
  'encoding',
  'content-type',
  'not-json',
] satisfies OutboundError['code'][];

/** The failed call, with what the supplier says about it: its errors are JSON with a `message`, or a page of a proxy. */
export function asNotubizError(error: OutboundError): NotubizError {
  const { code, message, status, retryAfterMs, problem } = error;
  if (status !== undefined) {
    const said = isRecord(problem) && typeof problem.message === 'string' ? `: ${problem.message.slice(0, 200)}` : '';
    return new NotubizError('status', message + said, { status, retryAfter: retryAfterMs });
  }
  return new NotubizError(UNREADABLE.includes(code) ? 'unreadable' : 'unavailable', message, { cause: error });
}

/** What the supplier says when it does not show something to the public, with status 200; else `undefined`. */
export function refusalIn(answer: unknown): string | undefined {
  if (!isRecord(answer) || typeof answer.message !== 'string') return undefined;
  return /\bno rights\b/i.test(answer.message) ? answer.message.slice(0, 200) : undefined;
}

/** Whether a status says so. */
export function isRefusal({ status }: NotubizError): boolean {
  return status === 401 || status === 403;
}
