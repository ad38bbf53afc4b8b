/**
 * Limits how long a run may last: a service that answers a byte a second, or holds every connection open, would make it
 * last for ever.
 */
import { addAbortListener } from 'node:events';
import type { SuiteDescription } from './case.ts';

export interface RunLimit {
  /** Fires when the limit is reached. */
  readonly signal: AbortSignal;
  /** The reason for cases that were not reached. */
  readonly reason: string;
}

export const USUAL_RATE = 5;
/** Five times as long as the largest suite takes at the default rate. */
const LONGEST_RUN_MS = 10 * 60_000;

/** In milliseconds; proportionally longer at a lower request rate. */
export const longestRunMs = (rate: number): number => LONGEST_RUN_MS * Math.max(1, USUAL_RATE / rate);

/**
 * Milliseconds for anything other than the subject, such as a command.
 * @param eachMs for each case
 */
export const longestWaitMs = ({ chapters }: Pick<SuiteDescription, 'chapters'>, eachMs: number): number =>
  chapters.flatMap(({ cases }) => cases).length * eachMs;

/**
 * The result of the work, unless a signal fires first; the work then continues in the background.
 * @throws the reason of the signal
 */
export async function unlessAborted<T>(signal: AbortSignal, work: T | PromiseLike<T>): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  using _ = addAbortListener(signal, () => reject(signal.reason));
  if (signal.aborted) reject(signal.reason);
  return await Promise.race([promise, work]);
}

/** A longer timer would fire at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

export function startLimit(ms: number): RunLimit {
  const minutes = Math.round(ms / 6000) / 10;
  return {
    signal: AbortSignal.timeout(Math.min(ms, LONGEST_TIMER_MS)),
    reason: `the run reached its limit of ${minutes} minutes`,
  };
}
