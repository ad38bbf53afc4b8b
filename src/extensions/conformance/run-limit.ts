/** How long a run may last: a service that answers a byte a second, or holds each connection open, would make it last for ever. */

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

/** Begins now. */
export function startLimit(ms: number): RunLimit {
  const minutes = Math.round(ms / 6000) / 10;
  return { signal: AbortSignal.timeout(ms), reason: `the run reached its limit of ${minutes} minutes` };
}
