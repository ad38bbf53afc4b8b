import type { ProblemKind } from '../kernel/problem.ts';

/** Problems of area B beside those of the platform. */
export const verwerkingenlogProblems = {} as const satisfies Record<string, ProblemKind>;
