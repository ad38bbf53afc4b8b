/** The documents that the processing log cases quote. */
import { clausesOf } from '../clause.ts';

export { rfc } from '../clause.ts';

/**
 * The published standard: its functions (F…), decisions (B…), additional specifications per call, and OpenAPI document.
 */
export const vng = clausesOf('API-standaard logging van verwerkingen 0.9.0');

/** Its version before the split, in which one API has all twelve functions. */
export const oneApi = clausesOf('API-standaard logging van verwerkingen, één API (januari 2021)');

/** The contract of such an API, `openapi/verwerkingenlog.yaml`. */
export const contract = clausesOf('OpenAPI verwerkingenlog 1.0.0');

/** The REST API Design Rules, which the standard declares applicable. */
export const adr = clausesOf('NLGov REST API Design Rules 2.0');
