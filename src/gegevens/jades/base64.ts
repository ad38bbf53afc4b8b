const base64urlText = /^[A-Za-z0-9_-]+$/;
const base64Text = /^[A-Za-z0-9+/]+={0,2}$/;

/**
 * Decodes base64url without padding (RFC 7515 section 2), in its one canonical spelling: two texts never mean the same
 * bytes, so nothing can be varied that a signature does not cover. Anything else is undefined.
 */
export function decodeBase64url(text: string): Buffer | undefined {
  if (!base64urlText.test(text)) return undefined;
  const bytes = Buffer.from(text, 'base64url');
  return bytes.toString('base64url') === text ? bytes : undefined;
}

/** Decodes standard base64 with its padding (RFC 4648 section 4), canonical only. Anything else is undefined. */
export function decodeBase64(text: string): Buffer | undefined {
  if (!base64Text.test(text)) return undefined;
  const bytes = Buffer.from(text, 'base64');
  return bytes.toString('base64') === text ? bytes : undefined;
}
