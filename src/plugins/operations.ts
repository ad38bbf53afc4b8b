/** What the parts of the service report to operators, and the problems that they answer with. */
import type { FastifyInstance } from 'fastify';
import fp from 'fastify-plugin';
import type { ProblemKind } from '../lib/problem.ts';
import type { OperatorSection, ReadinessCheck } from '../seams/operations.ts';
import { platformProblems } from './problems.ts';

declare module 'fastify' {
  interface FastifyInstance {
    readonly readiness: Collected<ReadinessCheck>;
    readonly operatorPage: Collected<OperatorSection>;
    /** Every problem that has a page at `/problems/<slug>`. */
    readonly problemKinds: Collected<ProblemKind>;
  }
}

/** What plugins add while the server is put together. */
interface Collected<T> {
  add(...more: readonly T[]): void;
  readonly all: readonly T[];
}

function collected<T>(...first: readonly T[]): Collected<T> {
  const all = [...first];
  return { all, add: (...more) => void all.push(...more) };
}

export const operations = fp(
  async (app: FastifyInstance) => {
    app.decorate('readiness', collected<ReadinessCheck>());
    app.decorate('operatorPage', collected<OperatorSection>());
    app.decorate('problemKinds', collected<ProblemKind>(...Object.values(platformProblems)));
  },
  { name: 'operations' },
);
