/** Which form of an answer a client asks for. @see RFC 9110 section 12.5 */
import { Negotiator } from 'negotiator';

/**
 * Characters of `Accept` or `Accept-Encoding` that are looked at: browsers send about 150. Matching takes time that grows with the
 * square of the length; a mount refuses longer ones before (`request-head.ts`).
 */
export const MAX_NEGOTIATED_LENGTH = 1024;

/**
 * The media types of `offered` that `Accept` allows, the most wanted first; all of them when there is no such header. Our JSON is UTF-8,
 * so a client that names that character set means the same.
 */
export function acceptedTypes(accept: string | undefined, offered: readonly string[]): string[] {
  if (accept === undefined) return [...offered];
  if (accept.length > MAX_NEGOTIATED_LENGTH) return [];
  const spelled = offered.flatMap((type) => [type, `${type}; charset=utf-8`]);
  const accepted = new Negotiator({ headers: { accept } }).mediaTypes(spelled);
  return [...new Set(accepted.map((type) => type.replace('; charset=utf-8', '')))];
}

/** The encoding of `offered` that the client wants most, ours first among equals; `identity` when it wants none of them. */
export function acceptedEncoding<E extends string>(
  acceptEncoding: string | undefined,
  offered: readonly E[],
): E | 'identity' {
  if (acceptEncoding === undefined || acceptEncoding.length > MAX_NEGOTIATED_LENGTH) return 'identity';
  const preferred = [...offered, 'identity'];
  const [best] = new Negotiator({ headers: { 'accept-encoding': acceptEncoding } }).encodings(preferred, { preferred });
  return offered.find((encoding) => encoding === best) ?? 'identity';
}
