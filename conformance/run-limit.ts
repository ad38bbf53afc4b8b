/** How long a run may last: a service that answers a byte a second, or holds each connection open, would make it last for ever. */
import type { SuiteDescription } from './case.ts';

export interface RunLimit {
  /** Fires when it is reached. */
  readonly signal: AbortSignal;
  /** What is said of cases that were not reached. */
  readonly reason: string;
}

/** Requests in a second where nothing else is asked for. */
export const USUAL_RATE = 5;
/** Five times what a run of the largest suite takes at the usual rate. */
const LONGEST_RUN_MS = 10 * 60_000;

/** Milliseconds; fewer requests in a second take as much longer. */
export const longestRunMs = (rate: number): number => LONGEST_RUN_MS * Math.max(1, USUAL_RATE / rate);

/** Milliseconds that others than what is tested may take, such as a command. @param eachMs for each case */
export const longestWaitMs = ({ chapters }: Pick<SuiteDescription, 'chapters'>, eachMs: number): number =>
  chapters.flatMap(({ cases }) => cases).length * eachMs;

/** The result of work, unless a signal fires first: the work then continues unawaited. @throws the reason of the signal */
export async function unlessAborted<T>(signal: AbortSignal, work: T | PromiseLike<T>): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const end = (): void => reject(signal.reason);
  signal.addEventListener('abort', end, { once: true });
  if (signal.aborted) end();
  try {
    return await Promise.race([promise, work]);
  } finally {
    signal.removeEventListener('abort', end);
  }
}

/** A longer timer would fire at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** Begins now. */
export function startLimit(ms: number): RunLimit {
  const minutes = Math.round(ms / 6000) / 10;
  return {
    signal: AbortSignal.timeout(Math.min(ms, LONGEST_TIMER_MS)),
    reason: `the run reached its limit of ${minutes} minutes`,
  };
}
