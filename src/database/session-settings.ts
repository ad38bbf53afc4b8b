interface SessionSettings {
  readonly statementTimeoutMs: number;
  /** The role to act as; the login must be a member. */
  readonly role?: string | undefined;
}

/** Adds settings to the `options` of an address, after its own. Elsewhere they would not count: in `pg` an address overrides other options. */
export function withSessionSettings(url: string, settings: SessionSettings): string {
  const start = url.indexOf('?');
  const query = new URLSearchParams(start === -1 ? '' : url.slice(start + 1));
  const { statementTimeoutMs, role } = settings;
  if (role !== undefined && !/^[a-z_][a-z0-9_]{0,62}$/.test(role))
    throw new TypeError(`not the name of a role: ${role}`);
  const ours = [
    `-c statement_timeout=${statementTimeoutMs}`,
    // A longer pause between the statements of a transaction means that its client hangs.
    `-c idle_in_transaction_session_timeout=${statementTimeoutMs === 0 ? 0 : Math.max(statementTimeoutMs, 10_000)}`,
    // A statement whose client has gone ends soon; until then it runs beside the replacement connection.
    '-c client_connection_check_interval=100ms',
    // Compiling pays off only for statements of a second or more; a wrong estimate would make a page take a second.
    '-c jit=off',
    ...(role === undefined ? [] : [`-c role=${role}`]),
  ];
  query.set('options', [query.get('options') ?? '', ...ours].join(' ').trim());
  return `${start === -1 ? url : url.slice(0, start)}?${query.toString().replaceAll('+', '%20')}`;
}
