import type { Certificate } from './certificate.ts';

/** What an issuer says of a certificate, and until when that is valid. */
export interface RevocationStatus {
  readonly revoked: boolean;
  readonly validUntil: Date;
  /** When to ask for a newer one; absent: by `refreshTime`. */
  readonly refreshAt?: Date;
}

/** A certificate with its issuer, both from a verified path. */
export interface Subject {
  readonly certificate: Certificate;
  readonly issuer: Certificate;
}

/** Clocks of responders may differ this much from ours. */
const skewMs = 60_000;
/** An answer that ends sooner than this, or has no end, is used once: its issuer makes new ones all the time. */
const minLifetimeMs = 5_000;
const refreshMs = 12 * 60 * 60 * 1000;
/** The pause before a failed refresh is tried again. */
export const retryMs = 30_000;
/** An older answer is not accepted, whatever its end. */
export const maxAgeMs = 400 * 24 * 60 * 60 * 1000;

/**
 * The moment until which an answer is valid.
 * @throws Error when it is not yet or no longer valid
 */
export function validUntil(thisUpdate: Date, nextUpdate: Date | undefined, now: Date): Date {
  const time = now.getTime();
  if (Number.isNaN(thisUpdate.getTime())) throw new Error('the answer has no readable date');
  if (thisUpdate.getTime() > time + skewMs) throw new Error('the answer is from the future');
  if (thisUpdate.getTime() < time - maxAgeMs) throw new Error('the answer is too old');
  if (nextUpdate === undefined) {
    if (thisUpdate.getTime() < time - skewMs) throw new Error('the answer is not recent and has no end');
    return now;
  }
  if (!(nextUpdate.getTime() > time - skewMs)) throw new Error('the answer is stale');
  if (nextUpdate < thisUpdate) throw new Error('the answer ends before it begins');
  return nextUpdate;
}

export function isCacheable(until: Date, now: Date): boolean {
  return until.getTime() - now.getTime() > minLifetimeMs;
}

/** When to ask again: after three quarters of the time to the end, and at least twice a day. */
export function refreshTime(now: Date, end: Date): Date {
  const ahead = (end.getTime() - now.getTime()) * 0.75;
  return new Date(now.getTime() + Math.min(ahead, refreshMs));
}
