// Detached PS256 signatures over a body or its Digest header: what is signed, checking it, and making it with the own key. Nothing here
// blocks the event loop, however large the body.
// @see RFC 3230 section 4.3.2 (Digest; the pattern is the interface's own), RFC 7515 section 5.1 and appendix F, RFC 7518 section 3.5,
// RFC 7797 section 3, ETSI TS 119 182-1 clause 5.1
import { constants, createHash, createSign, createVerify, type KeyObject, sign as signBytes } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import { promisify } from 'node:util';
import type { Certificate } from './certificate.ts';
import { isRsa } from './chain.ts';
import { JadesError, type JadesErrorCode } from './errors.ts';
import { httpHeaders, type ProtectedHeader, type SignatureStyle } from './protected-header.ts';

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
function digestPayload(digestHeader: string): Buffer {
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

const signInPool = promisify(
  (input: Uint8Array, key: KeyObject, done: (error: Error | null, signature: Buffer) => void): void =>
    signBytes('sha256', input, { key, ...ps256 }, done),
);

/** The values of the two headers of a signed message. */
interface SignedHeaders {
  readonly digest: string;
  readonly signature: string;
}

/** A body that is signed while it is made: `update` takes its bytes in order, `finish` ends it. */
interface Signing {
  update(bytes: Uint8Array): void;
  finish(): Promise<SignedHeaders>;
}

export interface Signer {
  /** Begins on a body whose bytes are still to come. The caller yields to the event loop between updates. */
  begin(style: SignatureStyle): Signing;
  /** Signs a body that is in memory, in pieces. */
  sign(body: Uint8Array, style: SignatureStyle): Promise<SignedHeaders>;
  /** Signs in the digest form when the digest is known already. */
  signDigest(digest: string, style: SignatureStyle): Promise<string>;
}

interface SignerOptions {
  readonly key: KeyObject;
  /** Leaf first. */
  readonly chain: readonly Certificate[];
  readonly kid: string;
  readonly now: () => Date;
  /** The signing time in the header: `iat` (seconds since 1970; the default), the outdated `sigT` (UTC, whole seconds), or none. */
  readonly time?: 'iat' | 'sigT' | 'none';
}

/** The style of each form where no request asks for another. */
export const plainStyles: Readonly<Record<SignatureStyle['form'], SignatureStyle>> = {
  body: { form: 'body', b64: true, crit: false },
  digest: { form: 'digest', b64: false, crit: true },
};

export function createSigner(options: SignerOptions): Signer {
  const x5c = options.chain.map(({ der }) => der.toString('base64'));
  const { time = 'iat' } = options;
  const header = (style: SignatureStyle): string => {
    const now = options.now();
    const members = {
      alg: 'PS256',
      typ: 'JOSE',
      kid: options.kid,
      x5c,
      'x5t#S256': options.chain[0]?.thumbprint,
      ...(time === 'iat' ? { iat: Math.floor(now.getTime() / 1000) } : {}),
      ...(time === 'sigT' ? { sigT: `${now.toISOString().slice(0, 19)}Z` } : {}),
      ...critical(style),
    };
    return Buffer.from(JSON.stringify(members)).toString('base64url');
  };

  const signDigest = async (digest: string, style: SignatureStyle): Promise<string> => {
    // Clause 5.2.8.2: the payload of this form is never encoded, whatever the request did.
    const encoded = header({ ...style, form: 'digest', b64: false });
    const input = Buffer.concat([Buffer.from(`${encoded}.`), digestPayload(digest)]);
    return `${encoded}..${(await signInPool(input, options.key)).toString('base64url')}`;
  };

  const beginBody = (style: SignatureStyle): Signing => {
    const digest = createDigest();
    const encoded = header(style);
    const signing = createSign('sha256');
    signing.update(`${encoded}.`);
    const feed = new PayloadFeed((piece) => void addPiece(signing, piece), style.b64);
    return {
      update(bytes) {
        digest.update(bytes);
        feed.update(bytes);
      },
      async finish() {
        feed.end();
        // Node signs a finished hash only in place; it takes about a millisecond, whatever the size of the body.
        const signature = signing.sign({ key: options.key, ...ps256 }, 'base64url');
        return { digest: digest.value(), signature: `${encoded}..${signature}` };
      },
    };
  };

  const beginDigest = (style: SignatureStyle): Signing => {
    const digest = createDigest();
    return {
      update: (bytes) => digest.update(bytes),
      async finish() {
        const value = digest.value();
        return { digest: value, signature: await signDigest(value, style) };
      },
    };
  };

  const begin = (style: SignatureStyle): Signing => (style.form === 'body' ? beginBody(style) : beginDigest(style));

  return {
    begin,
    signDigest,
    async sign(body, style) {
      const signing = begin(style);
      await inPieces(body, (piece) => signing.update(piece));
      return signing.finish();
    },
  };
}

function addPiece(signing: ReturnType<typeof createSign>, piece: Uint8Array | string): void {
  if (typeof piece === 'string') signing.update(piece, 'latin1');
  else signing.update(piece);
}

/** `sigD` in the digest form, `b64` when the payload is not encoded; `crit` names both. */
function critical(style: SignatureStyle): Record<string, unknown> {
  const members: Record<string, unknown> = {};
  if (style.form === 'digest') members.sigD = { mId: httpHeaders, pars: ['digest'] };
  if (!style.b64) members.b64 = false;
  const names = Object.keys(members);
  return names.length > 0 ? { crit: names, ...members } : {};
}
