// Finding the keys of an authorization server by its name. @see RFC 8414 section 3, OpenID Connect Discovery 1.0 section 4
import { isObject } from './claims.ts';
import { type FetchJsonOptions, fetchJson } from './fetch-json.ts';

/**
 * The address of an issuer's key set, from its metadata.
 *
 * @throws {AggregateError} when neither form of metadata can be used, with the cause of each
 */
export async function discoverKeysUrl(issuer: string, options: FetchJsonOptions): Promise<URL> {
  const failures: unknown[] = [];
  for (const url of metadataUrls(issuer)) {
    try {
      return keysUrl(await fetchJson(url, options), issuer, url);
    } catch (error) {
      options.signal.throwIfAborted();
      failures.push(error);
    }
  }
  throw new AggregateError(
    failures,
    `no usable metadata of the issuer ${issuer}: ${failures.map(messageOf).join('; ')}`,
  );
}

/** RFC 8414 puts the well-known part before the path of the issuer, OpenID Connect behind it. */
function metadataUrls(issuer: string): URL[] {
  const { origin, pathname } = new URL(issuer);
  const path = pathname.replace(/\/$/, '');
  return [
    new URL(`${origin}/.well-known/oauth-authorization-server${path}`),
    new URL(`${origin}${path}/.well-known/openid-configuration`),
  ];
}

function keysUrl(metadata: unknown, issuer: string, source: URL): URL {
  if (!isObject(metadata)) throw new Error(`${source.href} is not a JSON object`);
  // RFC 8414 section 3.3: or one issuer could hand out the keys of another.
  if (metadata.issuer !== issuer) throw new Error(`${source.href} is metadata of another issuer`);
  const address = metadata.jwks_uri;
  const url = typeof address === 'string' ? URL.parse(address) : null;
  if (url === null || !['http:', 'https:'].includes(url.protocol))
    throw new Error(`${source.href} has no usable jwks_uri`);
  if (source.protocol === 'https:' && url.protocol !== 'https:')
    throw new Error(`${source.href} names a jwks_uri without TLS`);
  return url;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
