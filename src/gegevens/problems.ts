import type { ProblemKind } from '../kernel/problem.ts';

/** Problems of area A beside those of the platform. */
export const gegevensProblems = {} as const satisfies Record<string, ProblemKind>;
