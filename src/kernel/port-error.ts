/** Why a port could not be had, naming the variable that chooses another; `undefined` when that is not what went wrong. */
export function portError(error: unknown, port: number, variable: string): Error | undefined {
  if (!(error instanceof Error) || !('code' in error)) return undefined;
  const options = { cause: error };
  const choose = `set ${variable} to another one, or to 0 for a free one`;
  if (error.code === 'EADDRINUSE') return new Error(`port ${port} is taken; ${choose}`, options);
  if (error.code === 'EACCES') return new Error(`port ${port} may not be opened by this user; ${choose}`, options);
  return undefined;
}
