import type { JsonLimits } from './parse-untrusted.ts';

/**
 * What the JSON of one delivery may hold, for those who read it or its proof. A page of 25 000 records, the most that the contract knows, has 1.2 million values in
 * 200 000 objects and lists where each record has what is usual, and three times as many where it has everything.
 */
export const ANSWER_LIMITS: Omit<JsonLimits, 'bytes'> = {
  containers: 1_000_000,
  members: 5_000_000,
  values: 6_000_000,
};
