/** Who is calling, as told by a token that was verified. */
export type Caller = {
  kind: 'oauth' | 'fsc';
  /** `sub` of the token; an OAuth token without one: its `client_id`. */
  subject: string;
  clientId?: string;
  /** FSC: the peer that calls. */
  peerId?: string;
  /**
   * The organisation identification number (20 digits) that the token proves: of the peer (FSC), of the client by its claim
   * or by configuration (OAuth).
   */
  oin?: string;
  /** `act.sub`: the delegate that acts for the subject. */
  actor?: string;
  scopes: ReadonlySet<string>;
  expiresAt: Date;
  /** SHA-256 of the token, base64url: names the token without giving it away. */
  tokenHash: string;
};

/** Keys that tokens are verified with, and what of it still holds. */
export type KeySource = {
  /** Whether the key, or the state of the keys, that a token was verified with still counts. */
  holds(key: string): boolean;
  /** Whether `holds` may be asked without `freshen` first. */
  isFresh(): boolean;
  /** Resolves when the keys are as new as they have to be. */
  freshen(): Promise<void>;
};

/**
 * What stays true of a token until it expires: signature, issuer, audience and start have been checked. What depends on
 * the request (the client certificate, the service called) or on the moment (the end, the keys) is judged on every use.
 */
export type VerifiedToken = {
  caller: Caller;
  /** `exp`, in seconds. */
  expiry: number;
  /** Epoch milliseconds from which the signature must be verified anew whatever the cache time; absent: at its expiry. */
  verifyAgainAt?: number;
  /** The keys that it was verified with, and which of them. */
  keys: KeySource;
  key: string;
  /** `cnf.x5t#S256`: the client certificate that the token is bound to. */
  boundTo?: string;
  /** FSC only. */
  fsc?: { groupId: string; service: string };
};
