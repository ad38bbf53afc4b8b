/** The mutants of each suite, by its name. */
import { GEGEVENS_MUTANTS } from './gegevens.ts';
import { LDV_MUTANTS } from './ldv.ts';
import type { Mutant } from './mutant.ts';
import { RAADSFEED_MUTANTS } from './raadsfeed.ts';
import { AGGREGATOR_MUTANTS, CONSUMER_MUTANTS } from './raadsfeed-consumer.ts';
import { PUBLISH_MUTANTS } from './raadsfeed-publish.ts';
import { REQUESTER_MUTANTS } from './requester.ts';
import { SIGNATURE_MUTANTS } from './signature.ts';
import { LOG_MUTANTS } from './verwerkingenlog.ts';

export const MUTANTS: Readonly<Record<string, readonly Pick<Mutant<unknown>, 'kills' | 'what'>[]>> = {
  gegevens: GEGEVENS_MUTANTS,
  'gegevens-requester': REQUESTER_MUTANTS,
  signature: SIGNATURE_MUTANTS,
  raadsfeed: RAADSFEED_MUTANTS,
  'raadsfeed-publish': PUBLISH_MUTANTS,
  'raadsfeed-consumer': [...CONSUMER_MUTANTS, ...AGGREGATOR_MUTANTS],
  verwerkingenlog: LOG_MUTANTS,
  ldv: LDV_MUTANTS,
};
