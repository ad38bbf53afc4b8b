// When a signature was made and until when it counts, as its protected header claims.
// @see ETSI TS 119 182-1 clauses 5.1.11 (iat) and 5.2.1 (sigT), RFC 7519 section 4.1.4 (exp)
import { JadesError, malformed } from './errors.ts';
import type { JsonObject } from './strict-json.ts';

/** Moments in milliseconds since 1970; each may be absent. */
export interface SignatureTimes {
  /** `iat`, `sigT` or both. */
  readonly signedAt: readonly number[];
  /** `exp`. */
  readonly expiresAt: number | undefined;
}

/** The clock of a signer may be this much ahead of ours. */
const leewayMs = 5 * 60_000;
/** The last moment that a Date can hold, in seconds. */
const lastSecond = 8.64e12;
const utcTime = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d{1,9})?Z$/;

/** @throws JadesError signature-malformed when one is no moment */
export function readTimes(members: JsonObject): SignatureTimes {
  const iat = numericDate(members, 'iat');
  const sigT = Object.hasOwn(members, 'sigT') ? readSigT(members.sigT) : undefined;
  return {
    signedAt: [iat, sigT].filter((moment) => moment !== undefined),
    expiresAt: numericDate(members, 'exp'),
  };
}

/**
 * Judges the age of a signature; one that names no time has none.
 * @param maxAgeMs how long after it was made a signature is accepted
 * @throws JadesError signature-expired, signature-not-yet-valid
 */
export function checkAge({ signedAt, expiresAt }: SignatureTimes, now: Date, maxAgeMs: number): void {
  const time = now.getTime();
  if (signedAt.some((moment) => moment > time + leewayMs)) {
    throw new JadesError('signature-not-yet-valid', 'De handtekening is van een moment dat nog moet komen.');
  }
  if (signedAt.some((moment) => moment < time - maxAgeMs)) {
    throw new JadesError('signature-expired', 'De handtekening is te lang geleden gezet.');
  }
  if (expiresAt !== undefined && time >= expiresAt) {
    throw new JadesError('signature-expired', 'De handtekening is volgens haar eigen exp verlopen.');
  }
}

function numericDate(members: JsonObject, name: 'iat' | 'exp'): number | undefined {
  if (!Object.hasOwn(members, name)) return undefined;
  const value = members[name];
  if (typeof value !== 'number' || value < 0 || value > lastSecond) throw malformed(`${name} is geen tijdstip`);
  return value * 1000;
}

function readSigT(value: unknown): number {
  const moment = typeof value === 'string' && utcTime.test(value) ? Date.parse(value) : Number.NaN;
  if (Number.isNaN(moment)) throw malformed('sigT is geen tijdstip in UTC');
  return moment;
}
