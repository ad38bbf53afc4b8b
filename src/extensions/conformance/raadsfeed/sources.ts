/** The documents that the cases of the council feed quote. */
import type { Clause } from '../case.ts';

/** The interface description of the council feed (area C, draft 0.0.2). */
export const draft = (clause: string, quote: string): Clause => ({
  document: 'Raadsfeed, ontwerp 0.0.2',
  clause,
  quote,
});

/** Its contract, `openapi/raadsfeed.yaml`. */
export const contract = (clause: string, quote: string): Clause => ({
  document: 'OpenAPI raadsfeed 0.0.2',
  clause,
  quote,
});

export { rfc } from '../clause.ts';

/** Server-sent events. @see https://html.spec.whatwg.org/multipage/server-sent-events.html */
export const html = (clause: string, quote: string): Clause => ({ document: 'HTML Living Standard', clause, quote });
