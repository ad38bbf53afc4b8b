/** The documents that the data exchange cases quote. */
import { clausesOf } from '../clause.ts';

/** The interface description of the data exchange (area A, variants SHV and VS). */
export const ddas = clausesOf('DDAS-koppelvlak 1.0.0');
export const request = (quote: string) => ddas('GegevensRequest', quote);
export const answer = (quote: string) => ddas('Response body (status 200)', quote);
export const signing = (quote: string) => ddas('Authentication 3, payload signing', quote);
export const paging = (quote: string) => ddas('Paginering', quote);
export const errors = (quote: string) => ddas('Errors', quote);
/** Its non-functional requirements. */
export const requirements = (quote: string) => clausesOf('DDAS, Niet functionele eisen')('Performance', quote);
/** The maximum number of records per answer, according to them. */
export const MOST_RECORDS = { shv: 25_000, vs: 50_000 } as const;
export const identification = (quote: string) =>
  clausesOf('DDAS, Identificatie, Authenticatie en Autorisatie')('Identificatie', quote);
export const transport = (quote: string) => clausesOf('DDAS, Transport')('Transportlaag', quote);
/** The published exchange model of SHV. */
export const model = clausesOf('DDAS, Uitwisselmodel SHV');
/** Its page on signatures, as of June 2026. */
export const signingPage = (quote: string) =>
  clausesOf('DDAS, Ondertekenen en Versleuteling')('Ondertekenen (Signing)', quote);
/** The module of the national API rules on which that page is based. */
export const signingModule = (quote: string) => clausesOf('API Design Rules, module Signing')('Payload signing', quote);
/** Our contract, `openapi/gegevens.yaml`, for matters that the interface description leaves open. */
export const contract = clausesOf('OpenAPI gegevens 1.0.0');

/** Our choice for a consistent set of pages; the interface description is silent. */
export const oneState = contract(
  'info',
  "alle pagina's van een vraag komen uit de stand van het moment waarop de eerste pagina is opgevraagd",
);
