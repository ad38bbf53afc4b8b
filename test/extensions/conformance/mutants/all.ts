/** The mutants of each suite, by its name. */
import { GEGEVENS_MUTANTS } from './gegevens.ts';
import type { Mutant } from './mutant.ts';
import { RAADSFEED_MUTANTS } from './raadsfeed.ts';
import { AGGREGATOR_MUTANTS, CONSUMER_MUTANTS } from './raadsfeed-consumer.ts';

export const MUTANTS: Readonly<Record<string, readonly Pick<Mutant<unknown>, 'kills' | 'what'>[]>> = {
  gegevens: GEGEVENS_MUTANTS,
  raadsfeed: RAADSFEED_MUTANTS,
  'raadsfeed-consumer': [...CONSUMER_MUTANTS, ...AGGREGATOR_MUTANTS],
};
