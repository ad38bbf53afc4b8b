/** Mistakes that a supplier can make: each breaks one rule, and the case that tests it must fail. */
import type { GegevensMutant } from './breaking-gegevens.ts';
import { ANSWER_MUTANTS } from './gegevens-answers.ts';
import { REQUEST_MUTANTS } from './gegevens-requests.ts';

export const GEGEVENS_MUTANTS: readonly GegevensMutant[] = [...REQUEST_MUTANTS, ...ANSWER_MUTANTS];
