import type { ProblemKind } from '../kernel/problem.ts';

/** Problems of area C beside those of the platform. */
export const raadsfeedProblems = {} as const satisfies Record<string, ProblemKind>;
