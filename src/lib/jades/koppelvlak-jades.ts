/** The public exports of `koppelvlak-jades`: detached JAdES signatures over HTTP messages, made and verified. */
import type { OwnKey } from './own-key.ts';
import type { Fetch } from './revocation.ts';
import { createSigner, PLAIN_STYLES, type SignatureStyle, type SignedHeaders } from './signature.ts';

export { JadesError, type JadesErrorCode, jadesErrorCodes } from './certificate.ts';
export { loadPemKey, loadPkcs12Key, type OwnKey, OwnKeyError, type OwnKeyFault } from './own-key.ts';
export type { Fetch, FetchRequest, RevocationMode } from './revocation.ts';
export type { SignatureStyle, SignedHeaders } from './signature.ts';
export {
  createVerifier,
  type SignedMessage,
  type Verified,
  type Verifier,
  type VerifierLimits,
  type VerifierOptions,
} from './verify.ts';

export interface SignOptions {
  /** `body`: over the body; `digest` (the default): over the `Digest` header. A style of a verified message: as that was signed. */
  readonly form?: 'body' | 'digest' | SignatureStyle;
  /** The clock; default that of the machine. */
  readonly now?: () => Date;
  /** The signing time in the header: `iat` (the default), the outdated `sigT`, or none. */
  readonly time?: 'iat' | 'sigT' | 'none';
}

/**
 * Signs the body of a message.
 * @param key of `loadPemKey` or `loadPkcs12Key`
 * @returns the values of the headers `Digest` and `nlgov-adr-payload-sig`
 * @throws {TypeError} for a key that no algorithm takes
 * @example
 * const key = loadPemKey({ key: pemOfKey, chain: pemOfChain }, new Date());
 * const { digest, signature } = await sign(Buffer.from('{"page":1}'), key);
 */
export function sign(body: Uint8Array, key: OwnKey, options: SignOptions = {}): Promise<SignedHeaders> {
  const { form = 'digest', now = () => new Date(), time = 'iat' } = options;
  return createSigner({ ...key, now, time }).sign(body, typeof form === 'string' ? PLAIN_STYLES[form] : form);
}

/**
 * Calls revocation services with a `fetch`, bounded in time and bytes. The addresses are those of certificates that lead to a trust anchor.
 * @param fetch default that of the runtime
 * @throws {Error} for a status other than 200, and for an answer that is too large or too late
 * @example
 * const verifier = createVerifier({ anchors, revocation: 'hard', now: () => new Date(), fetch: fetchRevocation() });
 */
export function fetchRevocation(fetch: typeof globalThis.fetch = globalThis.fetch): Fetch {
  return async ({ url, method, body, contentType, timeoutMs, maxBytes, signal }) => {
    const response = await fetch(url, {
      method,
      ...(body === undefined ? {} : { body: Uint8Array.from(body) }),
      ...(contentType === undefined ? {} : { headers: { 'content-type': contentType } }),
      signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]),
    });
    if (response.status !== 200) throw new Error(`${url} answered with status ${response.status}`);
    const pieces: Uint8Array[] = [];
    let size = 0;
    for await (const piece of response.body ?? []) {
      size += piece.length;
      if (size > maxBytes) throw new Error(`${url} sent more than ${maxBytes} bytes`);
      pieces.push(piece);
    }
    return Buffer.concat(pieces);
  };
}
