export interface BackoffPolicy {
  /** Milliseconds of the first wait at most; doubles with each failure. */
  readonly firstMs: number;
  /** Milliseconds of any wait at most. */
  readonly maxMs: number;
}

/**
 * How long to wait after so many failures in a row: grows exponentially; half of it is chance, so that many who failed together do
 * not come back together. Never less than what the other side asked for.
 */
export function backoffMs(policy: BackoffPolicy, failures: number, atLeastMs = 0): number {
  const ceiling = Math.min(policy.maxMs, policy.firstMs * 2 ** Math.min(30, Math.max(0, failures - 1)));
  const wait = ceiling / 2 + (Math.random() * ceiling) / 2;
  return Math.round(Math.max(wait, atLeastMs + (Math.random() * ceiling) / 4));
}
