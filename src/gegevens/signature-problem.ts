import { Problem } from '../kernel/problem.ts';
import type { JadesError } from './jades/errors.ts';
import { gegevensProblems } from './problems.ts';

/** The problem of a signature or digest that is not accepted; each cause has its own. */
export function signatureProblem(error: JadesError): Problem {
  return new Problem(gegevensProblems[error.code], { detail: error.detail, cause: error });
}
