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
