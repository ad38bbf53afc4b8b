// What is signed: the body itself or its Digest header, as the payload of a detached PS256 signature.
// @see RFC 3230 section 4.3.2 (Digest; the pattern is the interface's own), RFC 7515 section 5.1, RFC 7797 section 3
import { constants, createHash, createVerify } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import { isRsa } from './chain.ts';
import { JadesError, type JadesErrorCode } from './errors.ts';
import type { ProtectedHeader } from './protected-header.ts';

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

// The signing input is BASE64URL(header) "." payload, with the payload encoded or not.

/** PS256: PSS padding with a salt as long as the hash (RFC 7518 section 3.5). */
export const ps256 = { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: 32 } as const;

/** Bytes of a large body that are handled before the event loop gets its turn; a multiple of 3. */
const pieceBytes = 768 * 1024;

type Sink = (piece: Uint8Array | string) => void;

/** Feeds a payload that comes in pieces into a signing input, encoded when `b64` is true. */
export class PayloadFeed {
  readonly #sink: Sink;
  readonly #b64: boolean;
  #rest: Uint8Array = new Uint8Array();

  constructor(sink: Sink, b64: boolean) {
    this.#sink = sink;
    this.#b64 = b64;
  }

  update(bytes: Uint8Array): void {
    if (!this.#b64) {
      this.#sink(bytes);
      return;
    }
    // Only whole groups of three bytes can be encoded apart from what follows.
    let from = 0;
    if (this.#rest.length > 0) {
      from = Math.min(3 - this.#rest.length, bytes.length);
      this.#rest = Buffer.concat([this.#rest, bytes.subarray(0, from)]);
      if (this.#rest.length < 3) return;
      this.#encode(this.#rest);
    }
    const whole = bytes.length - ((bytes.length - from) % 3);
    this.#encode(bytes.subarray(from, whole));
    this.#rest = Uint8Array.from(bytes.subarray(whole));
  }

  end(): void {
    this.#encode(this.#rest);
    this.#rest = new Uint8Array();
  }

  #encode(bytes: Uint8Array): void {
    if (bytes.length > 0) this.#sink(encodePayload(bytes));
  }
}

function encodePayload(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64url');
}

/** The payload of the digest form (ETSI TS 119 182-1 clause 5.2.8.2): one line, the header's value as sent. */
export function digestPayload(digestHeader: string): Buffer {
  return Buffer.from(`digest: ${digestHeader}`, 'latin1');
}

/** Hands a body over in pieces and yields between them, so that 30 MB do not block the event loop. */
export async function inPieces(body: Uint8Array, take: (piece: Uint8Array) => void): Promise<void> {
  for (let from = 0; from < body.length; from += pieceBytes) {
    if (from > 0) await setImmediate();
    take(body.subarray(from, from + pieceBytes));
  }
}

/**
 * Checks the signature with the key of the first certificate, and no other.
 * @throws JadesError signature-algorithm, signature-invalid
 */
export async function verifySignature(
  header: ProtectedHeader,
  signature: Uint8Array,
  body: Uint8Array,
  digestHeader: string,
): Promise<void> {
  const key = header.x5c[0]?.x509.publicKey;
  if (key === undefined || !isRsa(key)) {
    throw new JadesError('signature-algorithm', 'PS256 vraagt een RSA-sleutel in het eerste certificaat.');
  }
  const verifying = createVerify('sha256');
  verifying.update(`${header.encoded}.`);
  const feed = new PayloadFeed((piece) => {
    if (typeof piece === 'string') verifying.update(piece, 'latin1');
    else verifying.update(piece);
  }, header.style.b64);
  const payload = header.style.form === 'digest' ? digestPayload(digestHeader) : body;
  await inPieces(payload, (piece) => feed.update(piece));
  feed.end();
  if (!isValid(() => verifying.verify({ key, ...ps256 }, signature))) {
    throw new JadesError('signature-invalid', 'De handtekening past niet bij het bericht en het certificaat.');
  }
}

/** OpenSSL throws when a key cannot make such signatures at all. */
function isValid(check: () => boolean): boolean {
  try {
    return check();
  } catch {
    return false;
  }
}
