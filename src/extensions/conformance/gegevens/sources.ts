/** The documents that the cases of the data exchange quote. */
import { clausesOf } from '../clause.ts';

/** The interface description of the data exchange (area A, variants SHV and VS). */
export const ddas = clausesOf('DDAS-koppelvlak 1.0.0');
export const signing = (quote: string) => ddas('Authentication 3, payload signing', quote);
export const paging = (quote: string) => ddas('Paginering', quote);
export const errors = (quote: string) => ddas('Errors', quote);
/** Its non-functional requirements. */
export const requirements = clausesOf('DDAS, niet-functionele eisen');
/** The published exchange models. */
export const model = clausesOf('DDAS-uitwisselmodel');
/** Its page about signatures. */
export const signingPage = clausesOf('DDAS, pagina over ondertekenen');
/** Our contract, `openapi/gegevens.yaml`, for what the interface description leaves open. */
export const contract = clausesOf('OpenAPI gegevens 1.0.0');
