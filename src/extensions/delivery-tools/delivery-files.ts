/** Files of the exchange model that are written whole or not at all. */
import { open, rename, rm, stat } from 'node:fs/promises';

/** A file cannot be written. */
export class UnwritableFile extends Error {
  constructor(path: string, cause: unknown) {
    super(`${path} cannot be written`, { cause });
    this.name = 'UnwritableFile';
  }
}

/** Deliveries hold personal data. */
export const OWNER_ONLY = 0o600;

type Pieces = Iterable<string | Uint8Array>;

/**
 * Writes a file that appears when it is complete; a pipe or device is written as it is.
 * @throws {UnwritableFile}; the signal's reason, or whatever `pieces` throws: then nothing remains
 */
export async function writeWhole(path: string, pieces: Pieces, signal?: AbortSignal): Promise<void> {
  const isPlain = (await stat(path).catch(() => undefined))?.isFile() ?? true;
  const part = isPlain ? `${path}.part` : path;
  const file = await open(part, 'w', OWNER_ONLY).catch((cause: unknown) => {
    throw new UnwritableFile(path, cause);
  });
  try {
    for (const batch of batches(pieces)) {
      signal?.throwIfAborted();
      await file.writeFile(batch);
    }
    await file.close();
    if (isPlain) await rename(part, path);
  } catch (error) {
    await file.close();
    if (isPlain) await rm(part, { force: true });
    throw error;
  }
}

const BATCH_BYTES = 256 * 1024;

/** Joins small pieces, for which a call each would take longer than writing them. */
function* batches(pieces: Pieces): Generator<Buffer> {
  let batch: Buffer[] = [];
  let bytes = 0;
  for (const piece of pieces) {
    const part = Buffer.from(piece);
    batch.push(part);
    bytes += part.length;
    if (bytes < BATCH_BYTES) continue;
    yield Buffer.concat(batch);
    batch = [];
    bytes = 0;
  }
  yield Buffer.concat(batch);
}
