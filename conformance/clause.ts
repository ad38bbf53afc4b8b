import type { Clause } from './case.ts';

/** Names the clauses of one document. */
export const clausesOf =
  (document: string) =>
  (clause: string, quote: string): Clause => ({ document, clause, quote });

export const rfc = (number: number, clause: string, quote: string): Clause => ({
  document: `RFC ${number}`,
  clause,
  quote,
});
