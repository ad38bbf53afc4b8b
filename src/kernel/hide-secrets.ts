/** Headers that may hold secrets or persons' identifiers; never logged, whoever hands them over. */
const SECRET_HEADERS = ['authorization', 'fsc-authorization', 'cookie', 'set-cookie', 'nlgov-adr-payload-sig'];

type Fields = Record<string, unknown>;

/**
 * What is to be logged, without the secrets in `headers` of its own or of a member. Copies only what it changes: pino's own `redact`
 * copies every field of every line, which takes several times as long as writing it.
 */
export function hideSecrets(fields: Fields): Fields {
  let shown = hideHeaders(fields);
  for (const name of Object.keys(shown)) {
    const member = shown[name];
    // Of an error only named parts are logged, and headers are not among them; a copy would be no error any more.
    if (!isObject(member) || name === 'err') continue;
    const hidden = hideHeaders(member);
    if (hidden !== member) shown = { ...shown, [name]: hidden };
  }
  return shown;
}

function hideHeaders(holder: Fields): Fields {
  const { headers } = holder;
  if (!isObject(headers)) return holder;
  const secrets = SECRET_HEADERS.filter((name) => Object.hasOwn(headers, name));
  if (secrets.length === 0) return holder;
  return { ...holder, headers: { ...headers, ...Object.fromEntries(secrets.map((name) => [name, '[hidden]'])) } };
}

function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null;
}
