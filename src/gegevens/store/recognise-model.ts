import { createReadStream } from 'node:fs';
import { DeliveryReader } from '../domain/import/delivery-reader.ts';
import { Faults, TooFaulty } from '../domain/import/faults.ts';
import type { RecordTraits } from '../domain/import/record-traits.ts';
import { builtInVersions, loadModel, type Model } from '../domain/model/model.ts';

const CHUNK_BYTES = 1024 * 1024;
const NO_TRAITS: RecordTraits = { begin: undefined, einde: undefined, sleutel: undefined, gemeente: undefined };

/**
 * Of which other built-in model a file is that is not of the given one; the newest, when it is of several.
 * @returns its version; `undefined` when it has faults by all of them
 */
export async function recogniseModel(
  path: string,
  { variant, mapping }: Model,
  signal: AbortSignal,
): Promise<string | undefined> {
  for (const version of builtInVersions(variant).toReversed()) {
    if (version !== mapping.versie && (await isOf(path, loadModel(variant, version), signal))) return version;
  }
  return undefined;
}

/** Reads until the first fault. */
async function isOf(path: string, model: Model, signal: AbortSignal): Promise<boolean> {
  const reader = new DeliveryReader({
    model,
    faults: new Faults(1),
    traitsOf: () => NO_TRAITS,
    sink: { text: () => undefined, traits: () => undefined },
  });
  const file = createReadStream(path, { highWaterMark: CHUNK_BYTES, signal });
  try {
    for await (const chunk of file) {
      if (Buffer.isBuffer(chunk)) reader.feed(chunk);
    }
    return reader.finish() !== undefined;
  } catch (error) {
    if (error instanceof TooFaulty) return false;
    throw error;
  }
}
