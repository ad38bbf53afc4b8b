const MAX_REASON_CAUSES = 4;

/**
 * Why something failed, in one line for operators, down to the cause: `fetch failed: connect ECONNREFUSED 127.0.0.1:443`. A name with
 * several addresses fails with an error for each and no message of its own; what `fetch` throws says nothing but its cause does.
 */
export function reasonOf(error: unknown, depth = 0): string {
  if (!(error instanceof Error)) return String(error);
  const code = 'code' in error && typeof error.code === 'string' ? error.code : undefined;
  const own =
    error instanceof AggregateError && error.message === '' && error.errors.length > 0
      ? [...new Set(error.errors.map((one) => reasonOf(one, depth + 1)))].join('; ')
      : error.message || code || error.name;
  const named = code === undefined || own.includes(code) || !/^[A-Z][A-Z0-9_]+$/.test(code) ? own : `${own} (${code})`;
  if (error.cause === undefined || depth >= MAX_REASON_CAUSES) return named;
  const cause = reasonOf(error.cause, depth + 1);
  return named.includes(cause) ? named : `${named}: ${cause}`;
}

/** Why a port could not be had, naming the variable that chooses another; `undefined` when that is not what went wrong. */
export function portError(error: unknown, port: number, variable: string): Error | undefined {
  if (!(error instanceof Error) || !('code' in error)) return undefined;
  const options = { cause: error };
  const choose = `set ${variable} to another one, or to 0 for a free one`;
  if (error.code === 'EADDRINUSE') return new Error(`port ${port} is taken; ${choose}`, options);
  if (error.code === 'EACCES') return new Error(`port ${port} may not be opened by this user; ${choose}`, options);
  return undefined;
}
