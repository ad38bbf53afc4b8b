import { setTimeout as sleep } from 'node:timers/promises';
import { VerwerkingenlogError } from './verwerkingenlog-error.ts';

const FIRST_WAIT_MS = 100;
const LONGEST_WAIT_MS = 10_000;
/** A log that asks for more is away for longer than a caller can stand still. */
const LONGEST_ASKED_MS = 60_000;

export interface RetryOptions {
  /** Times that it is tried in all. */
  readonly attempts: number;
  readonly signal: AbortSignal;
}

/**
 * Tries again what failed in passing, each time after a longer wait (half of it random, so that many clients do not come back at
 * once), or after the wait that the log asked for; asked to wait more than a minute, it gives up.
 * @throws {VerwerkingenlogError} what the last try threw, or with the signal's reason as its cause
 */
export async function withRetries<T>(work: () => Promise<T>, { attempts, signal }: RetryOptions): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof VerwerkingenlogError) || !error.passing || attempt >= attempts || signal.aborted)
        throw error;
      if (error.retryAfterMs !== undefined && error.retryAfterMs > LONGEST_ASKED_MS) throw error;
      const wait = Math.min(FIRST_WAIT_MS * 2 ** (attempt - 1), LONGEST_WAIT_MS);
      await sleep(error.retryAfterMs ?? wait / 2 + (Math.random() * wait) / 2, undefined, { signal }).catch(() => {
        throw new VerwerkingenlogError('the caller gave up', { cause: signal.reason });
      });
    }
  }
}
