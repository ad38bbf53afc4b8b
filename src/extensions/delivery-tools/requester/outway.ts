/** A request through an Outway of FSC, which adds the access token itself. */
import { randomBytes } from 'node:crypto';

/** A UUID of version 7 (RFC 9562 section 5.7): the time in milliseconds, then random bits. */
export function uuidV7(now: Date): string {
  const bytes = randomBytes(16);
  bytes.writeUIntBE(now.getTime(), 0, 6);
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x70, 6);
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8);
  const hex = bytes.toString('hex');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}

/** The headers by which an Outway finds the service, with a transaction of its own for each request, repeated ones too. */
export function outwayHeaders(grantHash: string, now: () => Date): () => Record<string, string> {
  return () => ({ 'fsc-grant-hash': grantHash, 'fsc-transaction-id': uuidV7(now()) });
}

/**
 * The address at the Outway: its own when that has a path, else with the path of the supplier's address. What is registered of a service is
 * its host; the path passes through Outway and Inway unchanged.
 * @param named address, or path, of `gegevens` at the supplier
 */
export function outwayAddress(outway: URL, named: string): string {
  if (outway.pathname !== '/') return outway.href;
  const path = URL.canParse(named) ? new URL(named).pathname : named;
  return new URL(path, outway).href;
}
