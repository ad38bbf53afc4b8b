/** The mutants of each suite, by its name. */
import type { Mutant } from './mutant.ts';
import { RAADSFEED_MUTANTS } from './raadsfeed.ts';
import { AGGREGATOR_MUTANTS, CONSUMER_MUTANTS } from './raadsfeed-consumer.ts';

export const MUTANTS: Readonly<Record<string, readonly Pick<Mutant<unknown>, 'kills' | 'what'>[]>> = {
  raadsfeed: RAADSFEED_MUTANTS,
  'raadsfeed-consumer': [...CONSUMER_MUTANTS, ...AGGREGATOR_MUTANTS],
};
