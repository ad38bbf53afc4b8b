import { type FscCode, Problem } from '../lib/problem.ts';
import type { ProblemStyle } from '../plugins/problem-reply.ts';
import { gegevensProblems } from './problems.ts';

/** Problems of the platform for which this contract has an error of the FSC standard. */
const CODES: Readonly<Record<string, FscCode>> = {
  'not-found': 'ERROR_CODE_SERVICE_NOT_FOUND',
  'method-not-allowed': 'ERROR_CODE_METHOD_UNSUPPORTED',
  unavailable: 'ERROR_CODE_SERVICE_UNREACHABLE',
};

/**
 * The errors of area A: those of the FSC standard in its shape, with their code in a header too; the others as plain problem
 * documents.
 * @see FSC Core 1.1, "Error handling"
 */
export const fscStyle: ProblemStyle = {
  translate: (problem) => {
    const fsc = problem.fsc ?? CODES[problem.kind.slug];
    if (fsc === undefined) return problem;
    // The contract has no 503; 502 says that the service cannot be reached.
    const kind = problem.kind.status === 503 ? gegevensProblems.dienstOnbereikbaar : problem.kind;
    return new Problem(kind, {
      detail: problem.detail,
      headers: { ...problem.headers, 'fsc-error-code': fsc },
      fsc,
      cause: problem.cause,
    });
  },
  body: ({ fsc }, plain) => {
    const { type, title, status, detail, instance } = plain;
    const common = { title, status, ...(detail === undefined ? {} : { detail }) };
    if (fsc === undefined) return { type, ...common, instance };
    const domain = fsc === 'ERROR_CODE_METHOD_UNSUPPORTED' ? 'ERROR_DOMAIN_OUTWAY' : 'ERROR_DOMAIN_INWAY';
    // The FSC standard has `message`, the published contract of this interface `title`.
    return { code: fsc, domain, message: detail ?? title, ...common };
  },
};
