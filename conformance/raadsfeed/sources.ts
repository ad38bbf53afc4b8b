/** The documents that the council feed cases quote. */
import { clausesOf, rfc } from '../clause.ts';

export { rfc };

/** The interface description of the council feed (area C, draft 0.0.2). */
export const draft = clausesOf('Raadsfeed, ontwerp 0.0.2');

export const feedRule = (number: number, quote: string) => draft(`Feed rules ${number}`, quote);

/** Its contract, `openapi/raadsfeed.yaml`. */
export const contract = clausesOf('OpenAPI raadsfeed 0.0.2');

/** A request with another `ETag` gets the full answer. */
export const otherTag = rfc(
  9110,
  '13.1.2',
  'the condition is false if one of the listed tags matches the entity tag of the selected representation. Otherwise, the condition is true.',
);

/** A `bronidentificatie` in an address. */
export const encoded = contract(
  'info',
  'Tekens in een `bronidentificatie` die in een pad niet kunnen, ook `/`, staan daar procent-gecodeerd.',
);

/** Server-sent events. @see https://html.spec.whatwg.org/multipage/server-sent-events.html */
export const html = clausesOf('HTML Living Standard');

export const fetchStandard = clausesOf('Fetch Living Standard');
