import { decodeProtectedHeader } from 'jose';
import { TokenError } from './token-error.ts';

/** What is read of a JWS header before its signature is known to be good: only what chooses the way to verify it. */
export type ProtectedHeader = { alg: string; typ?: string; kid?: string; certificateThumbprint?: string };

/**
 * The header of a JWS in compact form. Members that bring their own key (`jwk`, `jku`, `x5c`, `x5u`) are not looked at.
 *
 * @throws {TokenError} `invalid` when it is not a JSON object with an `alg`, or names anything in `crit`
 */
export function readProtectedHeader(token: string): ProtectedHeader {
  let header: ReturnType<typeof decodeProtectedHeader>;
  try {
    header = decodeProtectedHeader(token);
  } catch (cause) {
    throw new TokenError('invalid', 'malformed', { cause });
  }
  if (typeof header.alg !== 'string') throw new TokenError('invalid', 'malformed');
  if (header.crit !== undefined) throw new TokenError('invalid', 'critical-header');
  const thumbprint: unknown = header['x5t#S256'];
  if (thumbprint !== undefined && typeof thumbprint !== 'string') throw new TokenError('invalid', 'malformed');
  if (header.typ !== undefined && typeof header.typ !== 'string') throw new TokenError('invalid', 'malformed');
  if (header.kid !== undefined && typeof header.kid !== 'string') throw new TokenError('invalid', 'malformed');
  return {
    alg: header.alg,
    ...(header.kid === undefined ? {} : { kid: header.kid }),
    ...(header.typ === undefined ? {} : { typ: header.typ }),
    ...(thumbprint === undefined ? {} : { certificateThumbprint: thumbprint }),
  };
}
