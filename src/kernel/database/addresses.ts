/** Addresses of Postgres with several hosts, as libpq has them; `pg` knows only one. Pure: what the settings are checked with. */

/** Which host will do, in libpq's words. */
export const SESSION_ATTRIBUTES = ['any', 'read-write', 'read-only', 'primary', 'standby', 'prefer-standby'] as const;
export type SessionAttributes = (typeof SESSION_ATTRIBUTES)[number];

export interface Addresses {
  /** The same address, once for each host, in their order; at least one. */
  readonly urls: readonly [string, ...string[]];
  readonly wanted: SessionAttributes;
}

const PARTS = /^(postgres(?:ql)?:\/\/)([^/?#]*@)?([^/?#]*)([^?#]*)(?:\?([^#]*))?$/;

/**
 * Takes an address apart: `postgres://u:p@h1:5432,h2:5432/db?target_session_attrs=read-write`, or with the hosts as
 * `?host=/run/a,/run/b`.
 * @throws {Error} when it has another form; the message does not repeat the address, which may hold a password
 * @see https://www.postgresql.org/docs/current/libpq-connect.html#LIBPQ-CONNSTRING-URIS
 */
export function readAddresses(url: string): Addresses {
  const [, scheme = '', login = '', authority = '', path = '', search = ''] = PARTS.exec(url) ?? [];
  if (scheme === '') throw new Error('is not an address');
  const query = new URLSearchParams(search);
  const wanted = SESSION_ATTRIBUTES.find((word) => word === (query.get('target_session_attrs') ?? 'any'));
  if (wanted === undefined) throw new Error('has another target_session_attrs');
  const inQuery = query.get('host')?.split(',');
  const ports = query.get('port')?.split(',') ?? [];
  const hosts = authority.split(',');
  const [first, ...others] = (inQuery ?? hosts).map((host, i) => {
    if (!query.has('target_session_attrs') && (inQuery ?? hosts).length === 1) return url;
    const own = new URLSearchParams(query);
    own.delete('target_session_attrs');
    if (inQuery !== undefined) own.set('host', host);
    const port = ports[i] ?? ports[0];
    if (port !== undefined) own.set('port', port);
    const rest = own.size === 0 ? '' : `?${own.toString().replaceAll('+', '%20')}`;
    return `${scheme}${login}${inQuery === undefined ? host : authority}${path}${rest}`;
  });
  if (first === undefined) throw new Error('has no host');
  const urls: Addresses['urls'] = [first, ...others];
  // Without a host in front of the path, as for a socket, no URL is valid with a login.
  if (!urls.every((one) => URL.canParse(one.replace('@/', '@host/')))) throw new Error('is not an address');
  return { urls, wanted };
}
