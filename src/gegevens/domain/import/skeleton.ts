import { isUtf8 } from 'node:buffer';

/** A stretch of a file, kept with the line that it begins on. */
interface Stretch {
  readonly text: string;
  readonly line: number;
}

/** Text of which long lists were cut out; it still knows on which line of the file each of its characters stood. */
export class Skeleton {
  /** False when some of the bytes were no UTF-8. */
  readonly readable: boolean;
  readonly #stretches: readonly Stretch[];

  constructor(stretches: readonly Stretch[], readable: boolean) {
    this.#stretches = stretches;
    this.readable = readable;
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

/** Collects a skeleton from bytes of the file; what is left out ends one stretch and begins the next. */
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
    // The bytes are in a buffer that is used again.
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
