/** Masks everything that a terminal or report must not show: passwords, tokens, keys, and numbers that may identify a person. */
import { isBsn } from '../src/lib/patterns.ts';

export type Mask = (text: string) => string;

export const MASKED = '(masked)';
/**
 * Control characters except tab and line feed, characters that change the text direction, and those that XML does not
 * allow.
 */
const CONTROL = /[^\P{Cc}\t\n]|[\u202a-\u202e\u2066-\u2069\ufffe\uffff]/gu;
const SECRET_HEADERS = new Set(['authorization', 'fsc-authorization', 'proxy-authorization', 'cookie', 'set-cookie']);
/** Shorter values would also mask ordinary words. */
const SHORTEST_SECRET = 6;

/** A text that cannot control a terminal. */
export const visible: Mask = (text) => text.replaceAll(CONTROL, '\ufffd');

/**
 * Masks passwords in addresses, tokens, possible BSNs and terminal control characters.
 * @param secrets further ones, such as the run's tokens; read at each call
 */
export function createMask(secrets: Iterable<string>): Mask {
  return (text) => {
    let masked = text;
    for (const secret of secrets)
      if (secret.length >= SHORTEST_SECRET)
        for (const form of formsOf(secret)) masked = masked.replaceAll(form, MASKED);
    return visible(masked)
      .replaceAll(/(\/\/)[^/@\s]+@/g, `$1${MASKED}@`)
      .replaceAll(/([?&](?:access_token|token|client_secret|password|rid|key)=)[^&\s"]+/gi, `$1${MASKED}`)
      .replaceAll(/[\w.-]+/g, withoutJwts)
      .replaceAll(/(?<!\d)\d{9}(?!\d)/g, (digits) => (isBsn(digits) ? MASKED : digits));
  };
}

/** Masks JWTs in a text of JWT characters. A single pattern for a whole JWT would take minutes over `eyJ-eyJ-…`. */
function withoutJwts(text: string): string {
  const parts = text.split('.');
  const kept: string[] = [];
  for (let i = 0; i < parts.length; i += 1) {
    const part = parts[i] ?? '';
    const start = part.search(/\beyJ[\w-]/);
    const isJwt = start !== -1 && parts[i + 1] && parts[i + 2] !== undefined;
    kept.push(isJwt ? part.slice(0, start) + MASKED : part);
    if (isJwt) i += 2;
  }
  return kept.join('.');
}

/** A secret verbatim, in an address, and within a text in base64 or base64url. */
function formsOf(secret: string): readonly string[] {
  // Preceding bytes shift the groups of three; the complete groups within the secret look the same.
  const inBase64 = [0, 1, 2].flatMap((before) => {
    const bytes = Buffer.from(secret).subarray((3 - before) % 3);
    const whole = bytes.subarray(0, bytes.length - (bytes.length % 3));
    return [whole.toString('base64'), whole.toString('base64url')];
  });
  return [secret, encodeURIComponent(secret), ...inBase64.filter((form) => form.length >= SHORTEST_SECRET)];
}

/**
 * Headers with their secrets masked.
 * @param most characters of a value; default: all
 */
export function maskedHeaders(
  headers: Readonly<Record<string, string>>,
  mask: Mask,
  most?: number,
): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [
      name,
      SECRET_HEADERS.has(name.toLowerCase()) ? MASKED : mask(value).slice(0, most),
    ]),
  );
}
