import { isUtf8 } from 'node:buffer';

/** The file cannot be divided into items: its brackets, commas or sizes are wrong. The message is for operators. */
export class CutError extends Error {
  readonly line: number;
  constructor(message: string, line: number) {
    super(message);
    this.name = 'CutError';
    this.line = line;
  }
}

/** A trajectory with three thousand debts. A validator may find a fault in every second byte, each of some hundred bytes. */
const MAX_ITEM_BYTES = 1024 * 1024;
export const MAX_DEPTH = 100;

/** One value, as written in the file. The bytes are valid only until the next ones are read. */
export interface CapturedItem {
  readonly bytes: Buffer;
  /** Line that it begins on. */
  readonly line: number;
  /** Colons outside strings: as many as the text has members, when it is JSON. */
  readonly colons: number;
}

/** Finds where one value ends, however its bytes are spread over chunks. The hot loop of an import. */
export class ItemCapture {
  /** Line that is being read. */
  line: number;
  readonly #firstLine: number;
  readonly #scalar: boolean;
  #parts: Buffer[] = [];
  #bytes = 0;
  #depth = 0;
  #colons = 0;
  #inString = false;
  #escaped = false;

  /** @param first the value's first byte */
  constructor(first: number, line: number) {
    this.line = line;
    this.#firstLine = line;
    this.#scalar = first !== 0x7b && first !== 0x5b && first !== 0x22;
  }

  /**
   * Reads on from an offset in a chunk.
   * @returns the offset after the value, or -1 when the value continues in the next chunk
   * @throws {CutError} when the value is larger or deeper than is reasonable
   */
  scan(chunk: Buffer, from: number): number {
    const end = this.#scalar ? this.#scanScalar(chunk, from) : this.#scanNested(chunk, from);
    const part = chunk.subarray(from, end === -1 ? chunk.length : end);
    this.#bytes += part.length;
    if (this.#bytes > MAX_ITEM_BYTES)
      throw new CutError(`a record larger than ${MAX_ITEM_BYTES} bytes`, this.#firstLine);
    // The chunk's buffer is used again before the value ends.
    this.#parts.push(end === -1 ? Buffer.from(part) : part);
    return end;
  }

  item(): CapturedItem {
    const [only] = this.#parts;
    const bytes = this.#parts.length === 1 && only !== undefined ? only : Buffer.concat(this.#parts);
    return { bytes, line: this.#firstLine, colons: this.#colons };
  }

  #scanScalar(chunk: Buffer, from: number): number {
    for (let at = from; at < chunk.length; at += 1) {
      const byte = chunk[at] ?? 0;
      // White space, comma, closing bracket of either kind.
      if (byte <= 0x20 || byte === 0x2c || byte === 0x5d || byte === 0x7d) return at;
    }
    return -1;
  }

  #scanNested(chunk: Buffer, from: number): number {
    const length = chunk.length;
    let depth = this.#depth;
    let colons = this.#colons;
    let line = this.line;
    let inString = this.#inString;
    let escaped = this.#escaped;
    let end = -1;
    for (let at = from; at < length; at += 1) {
      const byte = chunk[at] ?? 0;
      if (inString) {
        if (escaped) escaped = false;
        else if (byte === 0x5c) escaped = true;
        else if (byte === 0x22) {
          inString = false;
          if (depth === 0) {
            end = at + 1;
            break;
          }
        }
      } else if (byte === 0x22) inString = true;
      else if (byte === 0x3a) colons += 1;
      else if (byte === 0x0a) line += 1;
      else if (byte === 0x7b || byte === 0x5b) {
        depth += 1;
        if (depth > MAX_DEPTH) throw new CutError(`more than ${MAX_DEPTH} levels deep`, line);
      } else if (byte === 0x7d || byte === 0x5d) {
        depth -= 1;
        if (depth === 0) {
          end = at + 1;
          break;
        }
      }
    }
    this.#depth = depth;
    this.#colons = colons;
    this.line = line;
    this.#inString = inString;
    this.#escaped = escaped;
    return end;
  }
}

/** A stretch of a file, with the line on which it begins. */
interface Stretch {
  readonly text: string;
  readonly line: number;
}

/** Text from which long lists were cut; it knows the line in the file of each of its characters. */
export class Skeleton {
  /** Of all of its bytes. */
  readonly isUtf8: boolean;
  readonly #stretches: readonly Stretch[];

  constructor(stretches: readonly Stretch[], readable: boolean) {
    this.#stretches = stretches;
    this.isUtf8 = readable;
  }

  get text(): string {
    return this.#stretches.map(({ text }) => text).join('');
  }

  /** Line in the file of the character at this offset. */
  lineAt(offset: number): number {
    let start = 0;
    let line = this.#stretches[0]?.line ?? 1;
    for (const stretch of this.#stretches) {
      const within = offset - start;
      line = stretch.line + newlines(stretch.text.slice(0, within));
      if (within < stretch.text.length) break;
      start += stretch.text.length;
    }
    return line;
  }
}

export function newlines(text: string): number {
  let count = 0;
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) count += 1;
  return count;
}

/** Builds a skeleton from bytes of the file, stretch by stretch: a new one begins after each part that was cut. */
export class SkeletonBuilder {
  readonly #limit: number;
  readonly #done: Stretch[] = [];
  #open: Buffer[] = [];
  #line: number;
  #bytes = 0;
  #readable = true;

  /** @param limit most bytes that it may grow to */
  constructor(line: number, limit: number) {
    this.#line = line;
    this.#limit = limit;
  }

  /** @returns false when it has become larger than is reasonable */
  add(bytes: Buffer): boolean {
    // The buffer of these bytes is used again.
    this.#open.push(Buffer.from(bytes));
    this.#bytes += bytes.length;
    return this.#bytes <= this.#limit;
  }

  /** What follows begins on this line. */
  resume(line: number): void {
    this.#close();
    this.#line = line;
  }

  finish(): Skeleton {
    this.#close();
    return new Skeleton(this.#done, this.#readable);
  }

  #close(): void {
    const bytes = Buffer.concat(this.#open);
    // A stretch begins and ends at a bracket, so it never splits a character.
    this.#readable &&= isUtf8(bytes);
    this.#done.push({ text: bytes.toString(), line: this.#line });
    this.#open = [];
  }
}
