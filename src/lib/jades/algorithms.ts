import { constants, type KeyObject } from 'node:crypto';

/** A signature algorithm of JWS, as `node:crypto` makes and checks it. */
export interface Algorithm {
  readonly hash: 'sha256' | 'sha384' | 'sha512';
  /** Given to `node:crypto` beside the key. */
  readonly options: {
    readonly padding?: number;
    readonly saltLength?: number;
    readonly dsaEncoding?: 'ieee-p1363';
  };
  readonly takesKey: (key: KeyObject) => boolean;
  /** The key that it takes, for the sender of a message (Dutch) and for an operator (English). */
  readonly key: { readonly nl: string; readonly en: string };
}

/**
 * The algorithms that messages may be signed with: verification, signing, checks of keys and messages about them follow from this table.
 * @see RFC 7518 section 3
 */
export const algorithms = new Map<string, Algorithm>([
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

/** The first algorithm that takes a key, with its name; undefined when none does. */
export function algorithmFor(key: KeyObject): readonly [name: string, algorithm: Algorithm] | undefined {
  return [...algorithms].find(([, { takesKey }]) => takesKey(key));
}

/** The names of all algorithms, for a sentence in Dutch. */
export function algorithmNames(): string {
  return [...algorithms.keys()].join(' of ');
}
