// The Digest header with SHA-256.
// @see RFC 3230 section 4.3.2; the pattern is the interface's own
import { createHash } from 'node:crypto';
import { JadesError, type JadesErrorCode } from './errors.ts';

const sha256Pattern = /^SHA-256=[A-Za-z0-9+/=]{43,44}$/;
const instanceDigest = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+=[!-~]+$/;

/** An incremental digest: `update` takes the bytes in order, `value` returns `SHA-256=<base64>`, once. */
interface BodyDigest {
  update(bytes: Uint8Array): void;
  value(): string;
}

export function createDigest(): BodyDigest {
  const hash = createHash('sha256');
  return {
    update: (bytes) => void hash.update(bytes),
    value: () => `SHA-256=${hash.digest('base64')}`,
  };
}

/** The value of the Digest header for these bytes. */
export function digestOf(bytes: Uint8Array): string {
  const digest = createDigest();
  digest.update(bytes);
  return digest.value();
}

/** A Digest header: the whole value as it was sent, and the one element that counts. */
interface DigestHeader {
  readonly sent: string;
  readonly sha256: string;
}

/**
 * Reads the Digest header: exactly one, possibly with several algorithms, of which exactly one is SHA-256.
 * @throws JadesError digest-missing, digest-mismatch
 */
export function parseDigest(values: HeaderValues): DigestHeader {
  const sent = onlyValue(values, 'digest-missing', 'digest-mismatch', 'Digest');
  const elements = sent.split(',').map((element) => element.trim());
  const malformed = elements.find((element) => !instanceDigest.test(element));
  if (malformed !== undefined) throw new JadesError('digest-mismatch', 'De header Digest is niet leesbaar.');
  const found = elements.filter((element) => /^sha-256=/i.test(element));
  const [sha256] = found;
  if (sha256 === undefined) throw new JadesError('digest-missing', 'De header Digest bevat geen SHA-256.');
  if (found.length > 1) throw new JadesError('digest-mismatch', 'De header Digest bevat SHA-256 meer dan eens.');
  if (!sha256Pattern.test(sha256)) {
    throw new JadesError('digest-mismatch', 'De header Digest heeft niet de vorm SHA-256=<base64>.');
  }
  return { sent, sha256 };
}

/**
 * Compares the header with the digest of the bytes that were received; padding may be left out.
 * @throws JadesError digest-mismatch
 */
export function checkDigest(header: DigestHeader, actual: string): void {
  if (header.sha256 !== actual && `${header.sha256}=` !== actual) {
    throw new JadesError('digest-mismatch', 'De header Digest past niet bij de ontvangen bytes.');
  }
}

/** All values of one HTTP header, as a raw list, so that a repeated header is seen. */
export type HeaderValues = string | readonly string[] | undefined;

/** The value of a header that must be there exactly once. */
export function onlyValue(
  values: HeaderValues,
  missing: JadesErrorCode,
  repeated: JadesErrorCode,
  name: string,
): string {
  const list = values === undefined ? [] : typeof values === 'string' ? [values] : values;
  const [value] = list;
  if (value === undefined || value === '') throw new JadesError(missing, `De header ${name} ontbreekt.`);
  if (list.length > 1) throw new JadesError(repeated, `De header ${name} komt meer dan eens voor.`);
  return value;
}
