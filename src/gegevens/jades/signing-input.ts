// The signing input, BASE64URL(header) "." payload with the payload encoded or not, and the PS256 signature over it.
// @see RFC 7515 section 5.1, RFC 7797 section 3
import { constants, createVerify } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import { isRsa } from './chain.ts';
import { JadesError } from './errors.ts';
import type { ProtectedHeader } from './protected-header.ts';

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
