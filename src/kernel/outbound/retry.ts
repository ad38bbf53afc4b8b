interface BackoffPolicy {
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

/** Seconds or a date (RFC 9110 section 10.2.3), as milliseconds from now; `undefined` when it is neither. */
export function retryAfterMs(value: string | undefined, now: Date): number | undefined {
  if (value === undefined) return undefined;
  if (/^\d{1,9}$/.test(value.trim())) return Number(value) * 1000;
  const date = Date.parse(value);
  return Number.isNaN(date) ? undefined : Math.max(0, date - now.getTime());
}

/** How many milliseconds an answer stays fresh by its own account (RFC 9111 section 4.2); 0 when it does not say. */
export function freshForMs(cacheControl: string | undefined, age: string | undefined): number {
  if (cacheControl === undefined || /(^|[\s,])no-(store|cache)\b/i.test(cacheControl)) return 0;
  const maxAge = /(?:^|[\s,])max-age="?(\d{1,9})/i.exec(cacheControl)?.[1];
  if (maxAge === undefined) return 0;
  const old = age !== undefined && /^\d{1,9}$/.test(age) ? Number(age) : 0;
  return Math.max(0, Number(maxAge) - old) * 1000;
}
