/** Who is calling, as told by a token that was verified. */
export type Caller = {
  kind: 'oauth' | 'fsc';
  /** `sub` of the token; an OAuth token without one: its `client_id`. */
  subject: string;
  clientId?: string;
  /** FSC: the peer that calls. */
  peerId?: string;
  /** FSC: the organisation identification number of that peer (20 digits). */
  oin?: string;
  /** `act.sub`: the delegate that acts for the subject. */
  actor?: string;
  scopes: ReadonlySet<string>;
  expiresAt: Date;
  /** SHA-256 of the token, base64url: names the token without giving it away. */
  tokenHash: string;
};
