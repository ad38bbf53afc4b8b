import { uuidV7 } from './patterns.ts';

/** The headers by which an Outway of FSC, which adds the access token, finds the service; a new transaction id for each request, also for repeats. */
export function outwayHeaders(grantHash: string): () => Record<string, string> {
  return () => ({ 'fsc-grant-hash': grantHash, 'fsc-transaction-id': uuidV7(new Date()) });
}

/** Its own if it has a path, else with the supplier's, which passes through Outway and Inway unchanged. @param named address or path of `gegevens` */
export function outwayAddress(outway: URL, named: string): string {
  if (outway.pathname !== '/') return outway.href;
  return new URL(URL.parse(named)?.pathname ?? named, outway).href;
}
