/** The text of a checkpoint (C2SP tlog-checkpoint, Note text): what a log signs about its tree. */
import { FormatError } from './format-error.ts';
import { HASH_BYTES, type Tree } from './merkle.ts';
import { decodeBase64 } from './note.ts';

export interface Checkpoint extends Tree {
  /** The log's identity: its key has this name. */
  readonly origin: string;
}

/** The text that is signed, each line ended by a newline. */
export function formatCheckpoint({ origin, size, root }: Checkpoint): string {
  return `${origin}\n${size}\n${Buffer.from(root).toString('base64')}\n`;
}

/**
 * Reads the text of a checkpoint strictly: nothing in it has two spellings. Extension lines may follow the root.
 * @throws {FormatError} that says which line is wrong
 */
export function parseCheckpoint(text: string): Checkpoint {
  const lines = text.split('\n');
  if (lines.pop() !== '' || lines.length < 3)
    throw new FormatError('a checkpoint has at least three lines, each ended');
  if (lines.includes('')) throw new FormatError('a checkpoint has no empty line');
  const [origin = '', size = '', root = ''] = lines;
  return { origin, size: parseSize(size, 'the second line'), root: parseHash(root, 'the third line') };
}

/** A whole number in decimal without leading zeroes, small enough to be counted exactly. @throws {FormatError} */
export function parseSize(text: string, what: string): number {
  const size = /^(?:0|[1-9][0-9]{0,15})$/.test(text) ? Number(text) : Number.NaN;
  if (!Number.isSafeInteger(size)) throw new FormatError(`${what} is not a whole number without leading zeroes`);
  return size;
}

/** A hash in base64. @throws {FormatError} */
export function parseHash(text: string, what: string): Uint8Array {
  const bytes = decodeBase64(text);
  if (bytes?.length !== HASH_BYTES) throw new FormatError(`${what} is not a SHA-256 hash in base64`);
  return bytes;
}
