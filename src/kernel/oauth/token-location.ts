// Where a request carries its access token: the FSC header first where it counts, then RFC 6750 section 2.1.
import { TokenError } from './token-error.ts';

/** A header as received: every occurrence of it. `headers` of Node has only the first `Authorization`, where two must be refused. */
export type HeaderValue = string | readonly string[] | undefined;

/** The headers that can carry a token. */
export type TokenHeaders = { authorization?: HeaderValue; fscAuthorization?: HeaderValue };

/** No issuer makes tokens of this size; larger ones are not even hashed. */
const maxTokenLength = 16_384;

/** RFC 6750: `b64token`; a JWS in compact form uses these characters and dots only. */
const jws = /^[A-Za-z0-9_-]+\.[A-Za-z0-9_-]*\.[A-Za-z0-9_-]*$/;

/** The one value of a header, without the space around it; undefined when the header is absent. */
export function singleHeader(value: HeaderValue): string | undefined {
  if (value === undefined) return undefined;
  if (typeof value === 'string') return value.trim();
  if (value.length === 0) return undefined;
  if (value.length > 1) throw new TokenError('invalid', 'header-repeated');
  return value[0]?.trim();
}

/**
 * The token of a request.
 *
 * @param acceptsFsc whether FSC tokens are accepted here: then `Fsc-Authorization` decides whenever it is there, even when
 *   it is useless. Elsewhere it is not looked at: an Inway adds it to whatever passes, an OAuth token included
 * @throws {TokenError} `missing` without a token, also when another authentication scheme was used (RFC 6750 section
 *   3.1); `invalid` for an empty or repeated header and for anything that is not a JWS in compact form
 */
export function findToken(headers: TokenHeaders, acceptsFsc: boolean): string {
  const fsc = acceptsFsc ? singleHeader(headers.fscAuthorization) : undefined;
  if (fsc !== undefined) return checkShape(withoutScheme(fsc) ?? fsc);
  const authorization = singleHeader(headers.authorization);
  if (authorization === undefined) throw new TokenError('missing', 'no-token');
  if (authorization === '') throw new TokenError('invalid', 'header-empty');
  const token = withoutScheme(authorization);
  if (token === undefined) throw new TokenError('missing', 'no-token');
  return checkShape(token);
}

/** What follows the scheme word `Bearer` (any case); undefined when the value has no such word. */
function withoutScheme(value: string): string | undefined {
  const match = /^bearer(?: +|$)/i.exec(value);
  return match === null ? undefined : value.slice(match[0].length);
}

function checkShape(token: string): string {
  if (token === '') throw new TokenError('invalid', 'header-empty');
  if (token.length > maxTokenLength) throw new TokenError('invalid', 'too-large');
  if (!jws.test(token)) throw new TokenError('invalid', 'malformed');
  return token;
}
