import type { Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { NotubizError } from './notubiz-error.ts';

/**
 * Reads a body of JSON, gzip or plain, of at most `maxBytes` after decompression.
 * @throws {NotubizError} `unreadable` when it is larger or not JSON, `unavailable` when it breaks off
 */
export async function readJson(body: Readable, encoding: string | undefined, maxBytes: number): Promise<unknown> {
  if (encoding !== undefined && encoding !== 'identity' && encoding !== 'gzip') {
    // Destroying an answer that nobody reads is an error of its own, that nobody listens to.
    body.on('error', () => {}).destroy();
    throw new NotubizError('unreadable', `content-encoding ${encoding} was not asked for`);
  }
  const text = await readText(encoding === 'gzip' ? gunzip(body) : body, maxBytes);
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new NotubizError('unreadable', 'not JSON', { cause });
  }
}

function gunzip(body: Readable): Readable {
  const plain = createGunzip();
  body.on('error', (error) => plain.destroy(error));
  plain.on('close', () => body.destroy());
  return body.pipe(plain);
}

async function readText(stream: Readable, maxBytes: number): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of stream) {
      const bytes = Buffer.from(chunk);
      size += bytes.byteLength;
      if (size > maxBytes) throw new NotubizError('unreadable', `larger than ${maxBytes} bytes`);
      chunks.push(bytes);
    }
  } catch (cause) {
    if (cause instanceof NotubizError) throw cause;
    throw new NotubizError('unavailable', 'the answer broke off', { cause });
  }
  return Buffer.concat(chunks).toString('utf8');
}
