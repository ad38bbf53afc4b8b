/** Postgres addresses with several hosts, as in libpq; `pg` itself knows one. */

/** Which hosts qualify, in libpq's words; its `prefer-standby` is not one of them. */
const SESSION_ATTRIBUTES = ['any', 'read-write', 'read-only', 'primary', 'standby'] as const;
type SessionAttributes = (typeof SESSION_ATTRIBUTES)[number];

export interface Addresses {
  /** The address once per host, in order; at least one. */
  readonly urls: readonly [string, ...string[]];
  readonly wanted: SessionAttributes;
}

const PARTS = /^(postgres(?:ql)?:\/\/)([^/?#]*@)?([^/?#]*)([^?#]*)(?:\?([^#]*))?$/;

/**
 * Parses an address: `postgres://u:p@h1:5432,h2:5432/db?target_session_attrs=read-write`, or with the hosts as
 * `?host=/run/a,/run/b`.
 * @throws {Error} for anything else; the message does not repeat the address, which may hold a password
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
  // For a socket the address has no host, and a URL with a login needs one.
  if (!urls.every((one) => URL.canParse(one.replace('@/', '@host/')))) throw new Error('is not an address');
  return { urls, wanted };
}
