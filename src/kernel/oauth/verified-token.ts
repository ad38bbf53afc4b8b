import type { Caller } from './caller.ts';

/**
 * What stays true of a token until it expires: signature, issuer, audience and start have been checked. What depends on
 * the request (the client certificate, the service called) or on the moment (the end) is judged on every use.
 */
export type VerifiedToken = {
  caller: Caller;
  /** `exp`, in seconds. */
  expiry: number;
  /** Epoch milliseconds from which the signature must be verified anew. */
  cacheUntil: number;
  /** `cnf.x5t#S256`: the client certificate that the token is bound to. */
  boundTo?: string;
  /** FSC only. */
  fsc?: { groupId: string; service: string };
};
