import { setTimeout as sleep } from 'node:timers/promises';
import { backoffMs } from '../../../kernel/outbound/outbound-client.ts';
import { NotubizError } from './notubiz-error.ts';

export interface RetryPolicy {
  /** Calls in all, the first one included. */
  readonly attempts: number;
  /** Milliseconds of the first wait at most; doubles with each attempt. */
  readonly firstDelay: number;
  /** Milliseconds of any wait at most. A `Retry-After` beyond it ends the attempts: the window is read another time. */
  readonly maxDelay: number;
}

/** Default: four calls, waiting at most 1, 2 and 4 seconds or what `Retry-After` says, up to five minutes. */
export const RETRY_POLICY: RetryPolicy = { attempts: 4, firstDelay: 1000, maxDelay: 300_000 };

/**
 * Calls again while the failure is a passing one: exponential backoff, half of it by chance, never sooner than `Retry-After`.
 * @throws {NotubizError} the last failure
 */
export async function withRetries<T>(call: () => Promise<T>, policy: RetryPolicy, signal: AbortSignal): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await call();
    } catch (error) {
      if (!(error instanceof NotubizError) || !error.passing || attempt >= policy.attempts) throw error;
      const wait = delay(attempt, error.retryAfter ?? 0, policy);
      if (wait === undefined) throw error;
      await sleep(wait, undefined, { signal });
    }
  }
}

function delay(attempt: number, floor: number, policy: RetryPolicy): number | undefined {
  if (floor > policy.maxDelay) return undefined;
  return backoffMs({ firstMs: policy.firstDelay, maxMs: policy.maxDelay }, attempt, floor);
}
