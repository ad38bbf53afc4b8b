/** A mistake in the command line, or in a file that it names. */
import { readFile } from 'node:fs/promises';
import { UsageError } from '../../src/lib/command-error.ts';
import { reasonOf } from '../../src/lib/log.ts';
import { decodeUtf8, EncodingError } from '../../src/lib/text-file.ts';

/**
 * @param Expected the error class for invalid values
 * @throws {UsageError} when the value of an option is invalid
 */
export function asUsage<Value>(
  option: string,
  read: () => Value,
  Expected: new (...given: never[]) => Error = Error,
): Value {
  try {
    return read();
  } catch (error) {
    if (error instanceof Expected) throw new UsageError(`${option}: ${error.message}`);
    throw error;
  }
}

/** @throws {UsageError} when the file cannot be read */
export function readBytes(file: string): Promise<Buffer> {
  return readFile(file).catch((cause: unknown) => {
    throw new UsageError(`${file} cannot be read: ${reasonOf(cause)}`);
  });
}

/** @throws {UsageError} when the file cannot be read or is not UTF-8 */
export async function readText(file: string): Promise<string> {
  return asText(await readBytes(file), file);
}

/** @throws {UsageError} naming the first line that is not UTF-8 */
export function asText(bytes: Buffer, file: string): string {
  try {
    return decodeUtf8(bytes, file);
  } catch (error) {
    if (error instanceof EncodingError) throw new UsageError(error.message);
    throw error;
  }
}
