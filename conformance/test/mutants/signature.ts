/** Stored messages with faults. */
import { SIGNATURES } from '../../signature/suite.ts';
import { ruleMutants } from './signature-faults.ts';

export const SIGNATURE_MUTANTS = ruleMutants(SIGNATURES.chapters, (make) => make);
