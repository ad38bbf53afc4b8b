// Makes detached PS256 signatures with the own key, without blocking the event loop.
// @see RFC 7515 appendix F, RFC 7518 section 3.5, ETSI TS 119 182-1 clause 5.1
import { createSign, type KeyObject, sign as signBytes } from 'node:crypto';
import { promisify } from 'node:util';
import type { Certificate } from './certificate.ts';
import { httpHeaders, type SignatureStyle } from './protected-header.ts';
import { createDigest, digestPayload, inPieces, PayloadFeed, ps256 } from './signed-payload.ts';

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
export interface Signing {
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
