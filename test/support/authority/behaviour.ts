// How a test's authority behaves: honestly, and in every wrong way.

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
  /** Five minutes old, as of a responder that reads a list now and then; with our nonce. */
  | 'older-no-end'
  | 'no-nonce'
  | 'no-nonce-no-end'
  | 'other-nonce'
  | 'wrong-certificate'
  | 'twice'
  /** An unknown critical extension, of the whole answer or of the one about the certificate. */
  | 'critical-extension'
  | 'critical-single-extension'
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
  /** A distribution point with a name that is relative to the issuer's. */
  | 'relative-name'
  /** An invalid issuing distribution point. */
  | 'unreadable-scope'
  /** Two issuing distribution points. */
  | 'scope-twice'
  /** A list number that is not a number. */
  /** The signed part names another algorithm than the signature. */
  | 'two-algorithms'
  /** An entry, of another certificate, with an unknown critical extension. */
  | 'unknown-entry'
  | TransportBehaviour;

/** Faults below the level of the format. */
type TransportBehaviour =
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
  /** Milliseconds before an OCSP answer is given. */
  ocspDelayMs: number;
  /** Seconds from an answer to its `nextUpdate`. */
  lifeSeconds: number;
}
