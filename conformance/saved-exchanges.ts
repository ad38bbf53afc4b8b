/** Complete exchanges as files (`--save`), in HTTP's own format, which `koppelvlak-conformance signature` reads. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Exchange } from './exchange.ts';
import { type Mask, maskedHeaders } from './mask.ts';

/** A stored message: an optional first line, headers, an empty line, and the exact body. */
export function messageBytes(
  first: string | undefined,
  headers: Readonly<Record<string, string>>,
  body: Uint8Array,
): Buffer {
  const fields = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  const lines = first === undefined ? fields : [first, ...fields];
  return Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`), body]);
}

/**
 * Writes `0001-request.http` and `0001-response.http`, readable by their owner only: bodies are complete, because a
 * signature covers every byte of them, and may contain personal data.
 */
export async function saveExchange(directory: string, number: number, exchange: Exchange, mask: Mask): Promise<void> {
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const write = (what: string, bytes: Buffer): Promise<void> =>
    writeFile(join(directory, `${String(number).padStart(4, '0')}-${what}.http`), bytes, { mode: 0o600 });
  const { method, url, sent, sentBody, status, headers, body } = exchange;
  await write('request', messageBytes(`${method} ${mask(url)} HTTP/1.1`, maskedHeaders(sent, mask), sentBody));
  await write('response', messageBytes(`HTTP/1.1 ${status}`, maskedHeaders(headers, mask), body));
}
