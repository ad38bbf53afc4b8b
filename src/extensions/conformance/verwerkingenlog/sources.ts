/** The documents that the cases of the processing log quote. */
import type { Clause } from '../case.ts';

const from =
  (document: string) =>
  (clause: string, quote: string): Clause => ({ document, clause, quote });

/** The published standard: its functions (F…), decisions (B…), additional specifications by call, and its OpenAPI. */
export const vng = from('API-standaard logging van verwerkingen 0.9.0');

/** The form of it, before it was split, in which one API has all twelve functions. */
export const oneApi = from('API-standaard logging van verwerkingen, één API (januari 2021)');

/** The contract of such an API, `openapi/verwerkingenlog.yaml`. */
export const contract = from('OpenAPI verwerkingenlog 1.0.0');

/** The REST API Design Rules, which the standard names as applicable. */
export const adr = from('NLGov REST API Design Rules 2.0');

export const rfc = (number: number, clause: string, quote: string): Clause => from(`RFC ${number}`)(clause, quote);
