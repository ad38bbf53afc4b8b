/** Server settings that a connection starts with. */
export interface SessionSettings {
  readonly statementTimeoutMs: number;
  /** The role to act as; the login must be a member. */
  readonly role?: string | undefined;
}

/**
 * Puts settings in the `options` of an address. What the address itself asks for stays; ours come later and win. They must be in
 * the address: pg lets an address override what is given beside it.
 */
export function withSessionSettings(url: string, settings: SessionSettings): string {
  const start = url.indexOf('?');
  const query = new URLSearchParams(start === -1 ? '' : url.slice(start + 1));
  const { statementTimeoutMs, role } = settings;
  if (role !== undefined && !/^[a-z_][a-z0-9_]{0,62}$/.test(role))
    throw new TypeError(`not the name of a role: ${role}`);
  const ours = [
    `-c statement_timeout=${statementTimeoutMs}`,
    // Nothing waits between the statements of a transaction but code: a longer pause is a client that hangs.
    `-c idle_in_transaction_session_timeout=${statementTimeoutMs === 0 ? 0 : Math.max(statementTimeoutMs, 10_000)}`,
    // Compiling a statement pays after a second of running; where it is on, a guess too high makes a page take a second.
    '-c jit=off',
    ...(role === undefined ? [] : [`-c role=${role}`]),
  ];
  query.set('options', [query.get('options') ?? '', ...ours].join(' ').trim());
  return `${start === -1 ? url : url.slice(0, start)}?${query.toString().replaceAll('+', '%20')}`;
}
