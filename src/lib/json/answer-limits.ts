import type { JsonLimits } from './parse-untrusted.ts';

/**
 * Limits on the JSON of one delivery, also for readers of its proof. A page of 25 000 records, the maximum of the contract, has 1.2 million values in
 * 200 000 objects and lists for usual records, and three times as many for complete ones.
 */
export const ANSWER_LIMITS: Omit<JsonLimits, 'bytes'> = {
  containers: 1_000_000,
  members: 5_000_000,
  values: 6_000_000,
};
