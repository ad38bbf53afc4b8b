import { randomBytes } from 'node:crypto';

/** A UUID of version 7 (RFC 9562 section 5.7): the time in milliseconds, then random bits. */
export function uuidV7(now: Date): string {
  const bytes = randomBytes(16);
  bytes.writeUIntBE(now.getTime(), 0, 6);
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x70, 6);
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8);
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}

/**
 * The headers by which an Outway of FSC, which adds the access token, finds the service, with a new transaction id for each request, also for
 * repeats.
 */
export function outwayHeaders(grantHash: string): () => Record<string, string> {
  return () => ({ 'fsc-grant-hash': grantHash, 'fsc-transaction-id': uuidV7(new Date()) });
}

/**
 * The address at the Outway: its own if it has a path, else with the path of the supplier's address. A service is registered by its host; the path
 * passes through Outway and Inway unchanged.
 * @param named address, or path, of `gegevens` at the supplier
 */
export function outwayAddress(outway: URL, named: string): string {
  if (outway.pathname !== '/') return outway.href;
  return new URL(URL.parse(named)?.pathname ?? named, outway).href;
}
