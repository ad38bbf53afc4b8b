/** The text of a checkpoint (C2SP tlog-checkpoint, Note text): what a log signs about its tree. */
import { HASH_BYTES } from './merkle.ts';
import { decodeBase64 } from './note.ts';

export interface Checkpoint {
  /** The log's identity: its key has this name. */
  readonly origin: string;
  /** Leaves in the tree. */
  readonly size: number;
  readonly root: Uint8Array;
  /** Lines after the root, as they are. */
  readonly extensions: readonly string[];
}

/** The text that is signed, each line ended by a newline. */
export function formatCheckpoint(checkpoint: Omit<Checkpoint, 'extensions'> & Partial<Checkpoint>): string {
  const { origin, size, root, extensions = [] } = checkpoint;
  const lines = [origin, String(size), Buffer.from(root).toString('base64'), ...extensions];
  return lines.map((line) => `${line}\n`).join('');
}

/**
 * Reads the text of a checkpoint strictly: nothing in it has two spellings.
 * @throws {TypeError} that says which line is wrong
 */
export function parseCheckpoint(text: string): Checkpoint {
  const lines = text.split('\n');
  if (lines.pop() !== '' || lines.length < 3) throw new TypeError('a checkpoint has at least three lines, each ended');
  if (lines.includes('')) throw new TypeError('a checkpoint has no empty line');
  const [origin = '', size = '', root = '', ...extensions] = lines;
  const bytes = decodeBase64(root);
  if (bytes?.length !== HASH_BYTES) throw new TypeError('the third line of a checkpoint is a SHA-256 hash in base64');
  return { origin, size: parseSize(size, 'the second line of a checkpoint'), root: bytes, extensions };
}

/**
 * A whole number in decimal as all these formats write it: without leading zeroes, and small enough to be counted exactly.
 * @throws {TypeError}
 */
export function parseSize(text: string, what: string): number {
  const size = /^(?:0|[1-9][0-9]{0,15})$/.test(text) ? Number(text) : Number.NaN;
  if (!Number.isSafeInteger(size)) throw new TypeError(`${what} is a whole number without leading zeroes`);
  return size;
}
