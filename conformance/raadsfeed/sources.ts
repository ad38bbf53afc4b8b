/** The documents that the council feed cases quote. */
import { clausesOf } from '../clause.ts';

export { rfc } from '../clause.ts';

/** The interface description of the council feed (area C, draft 0.0.2). */
export const draft = clausesOf('Raadsfeed, ontwerp 0.0.2');

/** One of its numbered rules for the feed. */
export const feedRule = (number: number, quote: string) => draft(`Feed rules ${number}`, quote);

/** Its contract, `openapi/raadsfeed.yaml`. */
export const contract = clausesOf('OpenAPI raadsfeed 0.0.2');

/** Server-sent events. @see https://html.spec.whatwg.org/multipage/server-sent-events.html */
export const html = clausesOf('HTML Living Standard');
