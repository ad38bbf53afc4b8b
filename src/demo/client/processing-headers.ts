import { randomUUID } from 'node:crypto';

/** The headers with which a consumer says for which processing it calls; `oin` is its own. */
export function processingHeaders(oin: string): Record<string, string> {
  return { OIN: oin, VerwerkingId: randomUUID(), Vertrouwelijkheid: 'normaal', Bewaartermijn: 'P1Y' };
}
