// How the responder behaves: honestly in the demo, and in every wrong way in tests.

export type OcspBehaviour =
  | 'honest'
  /** Honest, without a delegate: the issuer signs. */
  | 'issuer-signed'
  /** Honest, the responder named by the hash of its key. */
  | 'by-key'
  /** The honest signer is named, another key has signed. */
  | 'forged'
  /** A delegate of another authority answers. */
  | 'foreign'
  /** A certificate of the issuer without the OCSP-signing purpose answers. */
  | 'unappointed'
  | 'expired-delegate'
  | 'weak-signature'
  | 'stale'
  | 'years-old'
  | 'future'
  | 'no-end'
  | 'no-nonce'
  | 'no-nonce-no-end'
  | 'other-nonce'
  | 'wrong-certificate'
  | 'twice'
  | 'unknown'
  | 'try-later'
  | TransportBehaviour;

export type CrlBehaviour =
  | 'honest'
  | 'forged'
  | 'foreign'
  | 'weak-signature'
  | 'stale'
  | 'years-old'
  | 'future'
  /** A delta list. */
  | 'delta'
  /** A list of some reasons only. */
  | 'partial'
  /** A list of authorities only. */
  | 'authorities-only'
  /** A list of another distribution point. */
  | 'elsewhere'
  | 'unknown-extension'
  | TransportBehaviour;

/** Wrong ways below the format. */
export type TransportBehaviour =
  | 'hang'
  | 'drip'
  | 'not-found'
  | 'garbage'
  | 'empty'
  | 'gigabyte'
  | 'redirect-elsewhere'
  | 'redirect-own-host'
  | 'redirect-forever';

export interface Behaviour {
  ocsp: OcspBehaviour;
  crl: CrlBehaviour;
  /** Seconds from an answer to its `nextUpdate`. */
  lifeSeconds: number;
}
