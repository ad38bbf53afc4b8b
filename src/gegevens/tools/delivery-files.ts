/** Files of the exchange model, written whole or not at all. */
import { createWriteStream } from 'node:fs';
import { rename, rm, stat } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';

const PIECE_CHARACTERS = 256 * 1024;

export function* inPieces(texts: Iterable<string>): Generator<string> {
  let piece = '';
  for (const text of texts) {
    piece += text;
    if (piece.length < PIECE_CHARACTERS) continue;
    yield piece;
    piece = '';
  }
  yield piece;
}

/** Deliveries hold personal data. */
export const OWNER_ONLY = 0o600;
const BUFFER_BYTES = 256 * 1024;

/** Writes a file that appears once complete; a pipe or device directly. @throws any error, or the signal's reason: then nothing remains */
export async function writeWhole(
  path: string,
  pieces: Iterable<string | Uint8Array>,
  signal: AbortSignal = new AbortController().signal,
): Promise<void> {
  const isPlain = (await stat(path).catch(() => undefined))?.isFile() ?? true;
  const part = isPlain ? `${path}.part` : path;
  try {
    const file = createWriteStream(part, { mode: OWNER_ONLY, highWaterMark: BUFFER_BYTES });
    await pipeline(Readable.from(pieces), file, { signal });
    if (isPlain) await rename(part, path);
  } catch (error) {
    if (isPlain) await rm(part, { force: true });
    signal.throwIfAborted();
    throw error;
  }
}
