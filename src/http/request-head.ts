/** Bounds on what stands before the body of a request, looked at before anything of it is understood. */
import type { FastifyInstance } from 'fastify';
import { Problem } from '../kernel/problem.ts';
import { MAX_NEGOTIATED_LENGTH } from './negotiation.ts';
import { platformProblems } from './problems.ts';

/** Characters of path and query: the longest path (`MAX_PARAM_LENGTH`) with a query beside it. */
export const MAX_TARGET_LENGTH = 8192;
/** Parameters of a query; no operation has more than ten. */
const MAX_PARAMETERS = 100;
/** Characters of a header that is split, matched or copied. */
const MAX_LENGTH = 2048;
const MAX_HEADER_LENGTHS: readonly (readonly [name: string, length: number])[] = [
  ['accept', MAX_NEGOTIATED_LENGTH],
  ['accept-encoding', MAX_NEGOTIATED_LENGTH],
  ...[
    'accept-language',
    'content-type',
    'digest',
    'content-digest',
    'forwarded',
    'fsc-transaction-id',
    'host',
    'idempotency-key',
    'if-match',
    'if-modified-since',
    'if-none-match',
    'if-range',
    'last-event-id',
    'prefer',
    'range',
    'traceparent',
    'tracestate',
    'x-forwarded-for',
    'x-forwarded-host',
    'x-forwarded-proto',
    'oin',
    'verwerkingsactiviteitid',
    'verwerkingsactiviteiturl',
    'verwerkingid',
    'vertrouwelijkheid',
    'bewaartermijn',
  ].map((name) => [name, MAX_LENGTH] as const),
];

/**
 * Refuses an address that is too long or has too many parameters, and any header that is longer than its use can be. The head as a whole
 * may be large, because a certificate chain travels in one; without these bounds every other header could be as large.
 */
export function limitRequestHead(app: FastifyInstance): void {
  app.addHook('onRequest', (request, _reply, done) => {
    const { url = '', headers } = request.raw;
    if (url.length > MAX_TARGET_LENGTH) throw new Problem(platformProblems.addressTooLong);
    if (hasTooManyParameters(url)) {
      throw new Problem(platformProblems.invalidRequest, { detail: 'Het adres heeft te veel parameters.' });
    }
    for (const [name, length] of MAX_HEADER_LENGTHS) {
      // Node joins what came several times with `, `, and keeps a few names as a list.
      if ((headers[name]?.length ?? 0) > length) {
        throw new Problem(platformProblems.headersTooLarge, {
          detail: `De kop \`${name}\` is langer dan ${length} tekens.`,
        });
      }
    }
    done();
  });
}

/** An address as the router gets it: of one that is too long only so much that it is still too long, for the router decodes all of it. */
export function cutTarget(url: string): string {
  // Without half of an encoded character at the end.
  return url.length <= MAX_TARGET_LENGTH ? url : `${url.slice(0, MAX_TARGET_LENGTH).replace(/%.?$/, '')}...`;
}

/** Whether a query can be parsed for next to nothing. */
export function isShortQuery(query: string): boolean {
  return query.length <= MAX_TARGET_LENGTH && !hasTooManyParameters(query);
}

function hasTooManyParameters(text: string): boolean {
  let separators = 0;
  for (let at = text.indexOf('&'); at !== -1; at = text.indexOf('&', at + 1)) {
    separators += 1;
    if (separators >= MAX_PARAMETERS) return true;
  }
  return false;
}
