// Detached signatures over a body or its Digest header: the signing input, verification, and signing with the own key. Nothing here blocks the event
// loop, however large the body. @see RFC 3230 section 4.3.2 (Digest; the pattern is the interface's own), RFC 7515 section 5.1 and appendix F, RFC
// 7518 section 3.5, RFC 7797 section 3, ETSI TS 119 182-1 clause 5.1
import {
  constants,
  createHash,
  createSign,
  createVerify,
  hash as hashBytes,
  type KeyObject,
  sign as signBytes,
} from 'node:crypto';
import { StringDecoder } from 'node:string_decoder';
import { setImmediate } from 'node:timers/promises';
import { promisify } from 'node:util';
import { type Certificate, JadesError, type JadesErrorCode } from './certificate.ts';

/** How a signature is made. An answer is signed in the style of its request. */
export interface SignatureStyle {
  /** `body`: the payload is the HTTP body; `digest`: it is the line `digest: <Digest header>`, named by `sigD`. */
  readonly form: 'body' | 'digest';
  /** False: the payload enters the signing input as it is (RFC 7797). */
  readonly b64: boolean;
}

export interface ProtectedHeader {
  /** The header as sent, which the signature covers. */
  readonly encoded: string;
  /** Leaf first; one to five different certificates. */
  readonly x5c: readonly Certificate[];
  readonly alg: string;
  readonly algorithm: Algorithm;
  readonly style: SignatureStyle;
  /** Moments in milliseconds since 1970: `iat`, `sigT` or both, and `exp`; each may be absent. */
  readonly signedAt: readonly number[];
  readonly expiresAt: number | undefined;
}

export const HTTP_HEADERS = 'http://uri.etsi.org/19182/HttpHeaders';

const SHA256_PATTERN = /^SHA-256=[A-Za-z0-9+/=]{43,44}$/;
const INSTANCE_DIGEST = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+=[!-~]+$/;

/** The value of the Digest header for these bytes. */
export function digestOf(bytes: Uint8Array): string {
  return `SHA-256=${hashBytes('sha256', bytes, 'base64')}`;
}

export async function digestInPieces(body: Body): Promise<string> {
  if (body instanceof Uint8Array && body.length <= PIECE_BYTES) return digestOf(body);
  const hash = createHash('sha256');
  for await (const piece of inPieces(body)) hash.update(piece);
  return `SHA-256=${hash.digest('base64')}`;
}

type Body = Uint8Array | readonly Uint8Array[];

const PIECE_BYTES = 768 * 1024;

/** Yields to the event loop between pieces, so that 30 MB do not block it. */
async function* inPieces(body: Body): AsyncGenerator<Uint8Array> {
  let isFirst = true;
  for (const part of body instanceof Uint8Array ? [body] : body) {
    for (let from = 0; from < part.length; from += PIECE_BYTES) {
      if (!isFirst) await setImmediate();
      isFirst = false;
      yield part.subarray(from, from + PIECE_BYTES);
    }
  }
}

/** The one Digest header as sent, and its element of SHA-256 among others. @throws JadesError digest-missing, digest-mismatch */
export function parseDigest(values: HeaderValues) {
  const sent = onlyValue(values, 'digest-missing', 'digest-mismatch', 'Digest');
  const elements = sent.split(',').map((element) => element.trim());
  if (!elements.every((element) => INSTANCE_DIGEST.test(element)))
    throw new JadesError('digest-mismatch', 'De header Digest is niet leesbaar.');
  const found = elements.filter((element) => /^sha-256=/i.test(element));
  const [sha256] = found;
  if (sha256 === undefined) throw new JadesError('digest-missing', 'De header Digest bevat geen SHA-256.');
  if (found.length > 1) throw new JadesError('digest-mismatch', 'De header Digest bevat SHA-256 meer dan eens.');
  if (!SHA256_PATTERN.test(sha256)) {
    throw new JadesError('digest-mismatch', 'De header Digest heeft niet de vorm SHA-256=<base64>.');
  }
  return { sent, sha256 };
}

/** Compares the header with the digest of the received bytes; padding may be left out. @throws JadesError digest-mismatch */
export function checkDigest(header: { readonly sha256: string }, actual: string): void {
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
  const [value = '', ...more] = typeof values === 'string' ? [values] : (values ?? []);
  if (value === '') throw new JadesError(missing, `De header ${name} ontbreekt.`);
  if (more.length > 0) throw new JadesError(repeated, `De header ${name} komt meer dan eens voor.`);
  return value;
}

/** A payload as it enters the signing input, BASE64URL(header) "." payload: encoded where `b64` is true. */
export async function* payloadPieces(payload: Body, b64: boolean): AsyncGenerator<Uint8Array | string> {
  // Carries bytes that do not fill a group of three over to the next piece.
  const encoder = new StringDecoder('base64url');
  for await (const piece of inPieces(payload)) {
    yield b64 ? encoder.write(Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength)) : piece;
  }
  yield encoder.end();
}

/** The payload of the digest form (ETSI TS 119 182-1 clause 5.2.8.2): one line, the header's value as sent. */
function digestPayload(digestHeader: string): Buffer {
  return Buffer.from(`digest: ${digestHeader}`, 'latin1');
}

/** Checks the signature with the key of the first certificate, and no other. @throws JadesError signature-algorithm, signature-invalid */
export async function verifySignature(
  header: ProtectedHeader,
  signature: Uint8Array,
  body: Uint8Array,
  digestHeader: string,
): Promise<void> {
  const key = orUndefined(() => header.x5c[0]?.x509.publicKey);
  const { alg, algorithm } = header;
  if (key === undefined || !algorithm.takesKey(key)) {
    throw new JadesError('signature-algorithm', `${alg} vraagt ${algorithm.key.nl} in het eerste certificaat.`);
  }
  const verifying = createVerify(algorithm.hash);
  verifying.update(`${header.encoded}.`);
  const payload = header.style.form === 'digest' ? digestPayload(digestHeader) : body;
  for await (const piece of payloadPieces(payload, header.style.b64)) verifying.update(piece);
  if (orUndefined(() => verifying.verify({ key, ...algorithm.options }, signature)) !== true) {
    throw new JadesError('signature-invalid', 'De handtekening past niet bij het bericht en het certificaat.');
  }
}

/** Undefined when OpenSSL throws: it parses a certificate without its key, and refuses a key that cannot make such signatures at all. */
function orUndefined<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}

/** The values of the two headers of a signed message. */
export interface SignedHeaders {
  readonly digest: string;
  readonly signature: string;
}

export interface Signer {
  /** @param digest of the body, if known already */
  sign(body: Body, style: SignatureStyle, digest?: string): Promise<SignedHeaders>;
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

/** The style of each form when no request asks for another. */
export const PLAIN_STYLES: Readonly<Record<SignatureStyle['form'], SignatureStyle>> = {
  body: { form: 'body', b64: true },
  digest: { form: 'digest', b64: false },
};

/** @throws {TypeError} for a key that no algorithm takes */
export function createSigner({ key, chain, kid, now, time = 'iat' }: SignerOptions): Signer {
  const [alg, algorithm] = algorithmFor(key) ?? [];
  if (algorithm === undefined) throw new TypeError('no signature algorithm takes this key');
  const { hash, options } = algorithm;
  const x5c = chain.map(({ der }) => der.toString('base64'));
  const header = (style: SignatureStyle): string => {
    const at = now();
    const members = {
      alg,
      typ: 'JOSE',
      kid,
      x5c,
      'x5t#S256': chain[0]?.thumbprint,
      ...(time === 'iat' ? { iat: Math.floor(at.getTime() / 1000) } : {}),
      ...(time === 'sigT' ? { sigT: `${at.toISOString().slice(0, 19)}Z` } : {}),
      ...critical(style),
    };
    return Buffer.from(JSON.stringify(members)).toString('base64url');
  };
  const signInPool = promisify((input: Uint8Array, done: (error: Error | null, signature: Buffer) => void): void =>
    signBytes(hash, input, { key, ...options }, done),
  );

  const signDigest = async (digest: string, style: SignatureStyle): Promise<string> => {
    // Clause 5.2.8.2: the payload of this form is never encoded, whatever the style of the request.
    const encoded = header({ ...style, b64: false });
    const signature = await signInPool(Buffer.concat([Buffer.from(`${encoded}.`), digestPayload(digest)]));
    return `${encoded}..${signature.toString('base64url')}`;
  };

  const signBody = async (body: Body, style: SignatureStyle): Promise<string> => {
    const encoded = header(style);
    const signing = createSign(hash).update(`${encoded}.`);
    for await (const piece of payloadPieces(body, style.b64)) signing.update(piece);
    // Node signs a finished hash only in place; it takes about a millisecond, whatever the size of the body.
    return `${encoded}..${signing.sign({ key, ...options }, 'base64url')}`;
  };

  return {
    async sign(body, style, known) {
      const digest = known ?? (await digestInPieces(body));
      const signature = style.form === 'digest' ? await signDigest(digest, style) : await signBody(body, style);
      return { digest, signature };
    },
  };
}

function critical({ form, b64 }: SignatureStyle): Record<string, unknown> {
  const members = {
    ...(form === 'digest' ? { sigD: { mId: HTTP_HEADERS, pars: ['digest'] } } : {}),
    ...(b64 ? {} : { b64 }),
  };
  const names = Object.keys(members);
  return names.length > 0 ? { crit: names, ...members } : {};
}

/** A signature algorithm of JWS, as `node:crypto` implements it. */
export interface Algorithm {
  readonly hash: 'sha256' | 'sha384' | 'sha512';
  readonly options: {
    readonly padding?: number;
    readonly saltLength?: number;
    readonly dsaEncoding?: 'ieee-p1363';
  };
  readonly takesKey: (key: KeyObject) => boolean;
  /** The key that it accepts, for the sender of a message (Dutch) and for an operator (English). */
  readonly key: { readonly nl: string; readonly en: string };
}

/** The algorithms (RFC 7518 section 3) that messages may be signed with: verification, signing, checks of keys and messages follow from this table. */
export const ALGORITHMS = new Map<string, Algorithm>([
  [
    'PS256',
    {
      hash: 'sha256',
      // A salt as long as the hash (RFC 7518 section 3.5).
      options: { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: 32 },
      takesKey: isRsa,
      key: { nl: 'een RSA-sleutel', en: 'an RSA key of 2048 to 8192 bits' },
    },
  ],
]);

export function isRsa(key: KeyObject): boolean {
  return key.asymmetricKeyType === 'rsa' || key.asymmetricKeyType === 'rsa-pss';
}

export function algorithmFor(key: KeyObject): readonly [name: string, algorithm: Algorithm] | undefined {
  return [...ALGORITHMS].find(([, { takesKey }]) => takesKey(key));
}

export function algorithmNames(): string {
  return [...ALGORITHMS.keys()].join(' of ');
}
