import { FeedFault } from '../../../feed-client/client.ts';
import { OutboundError } from '../../../kernel/outbound/address-guard.ts';

/** A failure of a source as it is kept and shown. */
export interface Failure {
  /** Stable word: of `OutboundFault` or `FeedFaultCode`, a status as `status-503`. */
  readonly kind: string;
  readonly message: string;
  /** Milliseconds that the source asks to wait. */
  readonly retryAfterMs: number;
}

/** Longest that a source may ask to wait, in milliseconds. */
const MAX_RETRY_AFTER_MS = 86_400_000;

/** @returns `undefined` for what is not the source's doing */
export function describeFailure(error: unknown): Failure | undefined {
  if (error instanceof FeedFault) return { kind: error.code, message: error.message, retryAfterMs: 0 };
  if (!(error instanceof OutboundError)) return undefined;
  return {
    kind: error.status === undefined ? error.code : `status-${error.status}`,
    message: error.message,
    retryAfterMs: Math.min(error.retryAfterMs ?? 0, MAX_RETRY_AFTER_MS),
  };
}
