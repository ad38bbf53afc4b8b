/** The documents that the intake cases quote. */
import { clausesOf } from '../clause.ts';

export { rfc } from '../clause.ts';

export const ldv = clausesOf('Logboek Dataverwerkingen 1.0.0');
/** Its extension for lines about objects. */
export const extension = clausesOf('Logboek Dataverwerkingen, extensie Objecten (maart 2026)');
export const otlp = clausesOf('OTLP 1.11');
export const contract = clausesOf('OpenAPI ldv 1.0.0');
