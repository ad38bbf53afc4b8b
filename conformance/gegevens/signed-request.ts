/**
 * Makes signed requests, valid and invalid, including ones that our signing library would never make.
 * @see RFC 7515, RFC 7797, ETSI TS 119 182-1
 */
import {
  constants,
  createHmac,
  createPublicKey,
  hash,
  type KeyObject,
  sign as signBytes,
  X509Certificate,
} from 'node:crypto';
import { parsePemCertificates } from '../../src/lib/jades/certificate.ts';
import { digestOf, HTTP_HEADERS } from '../../src/lib/jades/signature.ts';
import type { JsonObject } from '../../src/lib/json/json-value.ts';
import type { Ask } from '../exchange.ts';

export interface Identity {
  readonly key: KeyObject;
  /** DER in base64, leaf first. */
  readonly x5c: readonly string[];
}

/** The certificates of a PEM text, as `x5c` has them. */
export function x5cOf(pem: string): readonly string[] {
  return parsePemCertificates(pem).map(({ der }) => der.toString('base64'));
}

export type SignatureForm = 'digest' | 'body';

export type SignBytes = (input: Buffer, key: KeyObject) => Buffer;

/** How a request differs from a valid one. */
export interface Wishes {
  /** Bytes and text are sent unchanged, anything else as JSON. Default: a small page. */
  readonly body?: unknown;
  readonly form?: SignatureForm;
  /** Members of the protected header, added or replaced; undefined removes one. */
  readonly header?: JsonObject;
  readonly identity?: Identity;
  readonly sign?: SignBytes;
  /** Value of the header `Digest`, which is then signed. */
  readonly digest?: string;
  /** Changes the two headers after signing; undefined omits one. */
  readonly after?: (headers: SignedHeaders) => Ask['headers'];
  readonly headers?: Ask['headers'];
  /** Sent instead of the signed body. */
  readonly sent?: Buffer;
  readonly to?: string;
}

export interface SignedHeaders {
  readonly digest: string;
  readonly 'nlgov-adr-payload-sig': string;
}

/** Cheap to answer, and nothing beyond an ordinary request. */
export const SMALL = { page: 1, pageSize: 1 };

const ps256: SignBytes = (input, key) =>
  signBytes('sha256', input, { key, padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: 32 });
/** A valid signature with one bit changed. */
export const changedSignature: SignBytes = (input, key) =>
  Buffer.from(ps256(input, key).map((byte, i) => (i === 40 ? byte ^ 1 : byte)));
export const rs256: SignBytes = (input, key) => signBytes('sha256', input, key);
/**
 * The public key, which everyone has, used as a secret.
 * @see RFC 8725 section 2.1
 */
export const hs256: SignBytes = (input, key) =>
  createHmac('sha256', createPublicKey(key).export({ type: 'spki', format: 'pem' }))
    .update(input)
    .digest();
export const noSignature: SignBytes = () => Buffer.alloc(0);

/** The two headers for a body. */
export function signedHeaders(
  body: Buffer,
  identity: Identity,
  { form = 'digest', header = {}, sign = ps256, digest = digestOf(body) }: Omit<Wishes, 'identity'> = {},
): SignedHeaders {
  const leaf = Buffer.from(identity.x5c[0] ?? '', 'base64');
  const thumbprint = hash('sha256', leaf, 'base64url');
  const kid = hash('sha256', new X509Certificate(leaf).publicKey.export({ type: 'spki', format: 'der' }), 'base64url');
  const iat = Math.floor(Date.now() / 1000);
  const members = {
    alg: 'PS256',
    typ: 'JOSE',
    kid,
    x5c: identity.x5c,
    'x5t#S256': thumbprint,
    iat,
    ...(form === 'body' ? {} : { b64: false, crit: ['sigD', 'b64'], sigD: { mId: HTTP_HEADERS, pars: ['digest'] } }),
    ...header,
  };
  const encoded = Buffer.from(JSON.stringify(members)).toString('base64url');
  const payload = form === 'digest' ? Buffer.from(`digest: ${digest}`) : body;
  const signed = members.b64 === false ? payload : Buffer.from(payload.toString('base64url'));
  const signature = sign(Buffer.concat([Buffer.from(`${encoded}.`), signed]), identity.key);
  return { digest, 'nlgov-adr-payload-sig': `${encoded}..${signature.toString('base64url')}` };
}
