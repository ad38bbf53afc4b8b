/** The documents that the cases of the intake quote. */
import type { Clause } from '../case.ts';

export const from =
  (document: string) =>
  (clause: string, quote: string): Clause => ({ document, clause, quote });
export const ldv = from('Logboek Dataverwerkingen 1.0.0');
export const otlp = from('OTLP 1.11');
export const contract = from('OpenAPI ldv 1.0.0');
