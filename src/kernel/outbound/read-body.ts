import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream';
import { createBrotliDecompress, createGunzip, createZstdDecompress } from 'node:zlib';
import { OutboundError } from './outbound-error.ts';

/** What we ask for; decompressed piece by piece, so a bomb is stopped at the limit and not after it. */
export const ACCEPT_ENCODING = 'br, zstd, gzip';

/** The first value of a header. */
export function headerValue(header: string | string[] | undefined): string | undefined {
  return typeof header === 'string' ? header : header?.[0];
}

/**
 * Reads a body of at most `maxBytes`, counted both as sent and after decompression.
 * @throws {OutboundError} `too-large`, `encoding`, `broken-off`
 */
export async function readBody(body: Readable, encoding: string | undefined, maxBytes: number): Promise<Buffer> {
  const plain = decompressed(body, encoding?.trim().toLowerCase() ?? 'identity', maxBytes);
  const pieces: Buffer[] = [];
  let size = 0;
  try {
    for await (const piece of plain) {
      const bytes = Buffer.from(piece);
      size += bytes.length;
      if (size > maxBytes) throw tooLarge(maxBytes);
      pieces.push(bytes);
    }
    return Buffer.concat(pieces, size);
  } catch (error) {
    if (error instanceof OutboundError) throw error;
    if (isZlibError(error)) throw new OutboundError('encoding', `the answer is not in ${encoding}`, { cause: error });
    throw new OutboundError('broken-off', 'the answer broke off', { cause: error });
  } finally {
    plain.destroy();
    body.destroy();
  }
}

function decompressed(body: Readable, encoding: string, maxBytes: number): Readable {
  // A body that is destroyed before its end still emits an error, after its reader has gone.
  body.on('error', () => undefined);
  if (encoding === 'identity' || encoding === '') return body;
  const inflate = decompressor(encoding);
  if (inflate === undefined) {
    body.destroy();
    throw new OutboundError('encoding', `content-encoding ${encoding.slice(0, 40)} was not asked for`);
  }
  // Whose reader stops early destroys both; the error reaches the reader through `inflate`.
  // What is sent counts too: pieces that are compressed to nothing could go on for ever.
  pipeline(body, limited(maxBytes), inflate, () => undefined);
  return inflate;
}

function limited(maxBytes: number) {
  return async function* (pieces: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    let size = 0;
    for await (const piece of pieces) {
      size += piece.length;
      if (size > maxBytes) throw tooLarge(maxBytes);
      yield piece;
    }
  };
}

function tooLarge(maxBytes: number): OutboundError {
  return new OutboundError('too-large', `the answer is larger than ${maxBytes} bytes`);
}

function decompressor(encoding: string) {
  if (encoding === 'gzip' || encoding === 'x-gzip') return createGunzip();
  if (encoding === 'br') return createBrotliDecompress();
  if (encoding === 'zstd') return createZstdDecompress();
  return undefined;
}

function isZlibError(error: unknown): boolean {
  if (!(error instanceof Error) || !('code' in error) || typeof error.code !== 'string') return false;
  // The end of a compressed body that is missing is an answer that broke off.
  return /^(Z_(?!BUF_ERROR)|ERR__ERROR_|ERR_BROTLI|ERR_ZSTD|ZSTD_)/.test(error.code);
}
