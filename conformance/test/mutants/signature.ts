/** Messages at rest that are wrong. */
import { SIGNATURES } from '../../signature/suite.ts';
import { ruleMutants } from './signature-faults.ts';

export const SIGNATURE_MUTANTS = ruleMutants(SIGNATURES.chapters, (make) => make);
