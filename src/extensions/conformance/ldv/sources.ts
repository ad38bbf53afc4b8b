/** The documents that the cases of the intake quote. */
import { clausesOf } from '../clause.ts';

export { rfc } from '../clause.ts';

export const ldv = clausesOf('Logboek Dataverwerkingen 1.0.0');
export const otlp = clausesOf('OTLP 1.11');
export const contract = clausesOf('OpenAPI ldv 1.0.0');
