/** Files of the exchange model: read whole without storing them, and written whole or not at all. */
import { open, rename, rm, stat } from 'node:fs/promises';
import { type DeliveryJudge, DeliveryReader, type ReadDelivery } from '../../gegevens/import/delivery-reader.ts';
import { type Faults, ImportStopped } from '../../gegevens/import/faults.ts';
import type { ItemList } from '../../gegevens/model/mapping.ts';
import type { Model } from '../../gegevens/model/model.ts';
import { type DeliverySource, feedFile, NO_TRAITS } from '../../gegevens/store/import-file.ts';

interface ReadOptions {
  readonly model: Model;
  readonly faults: Faults;
  readonly judge?: DeliveryJudge | undefined;
  /** Takes each record and case that fits the model; the bytes are valid only during the call. */
  readonly item?: (levering: number, list: ItemList, nummer: number, bytes: Buffer) => void;
  readonly signal: AbortSignal;
  /** Awaited between pieces of the file. */
  readonly progress?: ((bytesRead: number, records: number) => Promise<void> | void) | undefined;
}

/**
 * Reads a file, or what makes its bytes.
 * @returns what it holds; `undefined` when it has faults
 * @throws the signal's reason; what the file system says
 */
export async function readDelivery(
  from: string | DeliverySource,
  { model, faults, judge, item = () => undefined, signal, progress }: ReadOptions,
): Promise<ReadDelivery | undefined> {
  const sink = { text: item, traits: () => undefined };
  const reader = new DeliveryReader({ model, faults, judge, sink, traitsOf: () => NO_TRAITS });
  const source = typeof from === 'string' ? await open(from) : from;
  try {
    await feedFile(source, reader, { signal, after: async (bytesRead) => progress?.(bytesRead, reader.records) });
    return reader.finish();
  } catch (error) {
    if (error instanceof ImportStopped) return undefined;
    throw error;
  } finally {
    await source.close();
  }
}

/** A file cannot be written. */
export class UnwritableFile extends Error {
  constructor(path: string, cause: unknown) {
    super(`${path} cannot be written`, { cause });
    this.name = 'UnwritableFile';
  }
}

/** Deliveries hold personal data. */
export const OWNER_ONLY = 0o600;

type Pieces = Iterable<string | Uint8Array> | AsyncIterable<string | Uint8Array>;

/**
 * Writes a file that appears when it is complete; a pipe or device is written as it is.
 * @throws {UnwritableFile}; whatever `pieces` throws: then nothing remains
 */
export async function writeWhole(path: string, pieces: Pieces): Promise<void> {
  const isPlain = (await stat(path).catch(() => undefined))?.isFile() ?? true;
  const part = isPlain ? `${path}.part` : path;
  const file = await open(part, 'w', OWNER_ONLY).catch((cause: unknown) => {
    throw new UnwritableFile(path, cause);
  });
  try {
    for await (const batch of batches(pieces)) await file.writeFile(batch);
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
export async function* batches(pieces: Pieces): AsyncGenerator<Buffer> {
  let batch: Buffer[] = [];
  let bytes = 0;
  for await (const piece of pieces) {
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
