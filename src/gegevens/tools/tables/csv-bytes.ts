/** The bytes of a CSV file before parsing: length of rows, line ends, encoding. */
import { isAscii, isUtf8 } from 'node:buffer';
import { UnreadableTable } from './table-file.ts';

/** An unclosed quote would make one cell of the rest of the file; a line of delimiters, a cell for each byte. */
export const MAX_ROW_BYTES = 1024 * 1024;
const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const QUOTE = 0x22;

interface CsvBytesOptions {
  readonly encoding: 'utf-8' | 'windows-1252';
  /** Number of the line at which the source begins. */
  readonly firstLine: number;
  /** @param bytes read so far */
  readonly onBytes: (bytes: number) => void;
  /** Called when a row is too long; nothing follows then. */
  readonly onExceeded: () => void;
}

/**
 * The bytes as UTF-8. It ends at a row that is too long: the parser counts only the cells, not their delimiters.
 * @throws {UnreadableTable} for mixed line ends or a wrong encoding
 */
export async function* csvBytes(
  source: AsyncIterable<unknown>,
  { encoding, firstLine, onBytes, onExceeded }: CsvBytesOptions,
): AsyncGenerator<string | Buffer> {
  const windows = encoding === 'utf-8' ? undefined : new WindowsLines(firstLine);
  const ends = new LineEnds(firstLine);
  let inQuotes = false;
  let ofRow = 0;
  let all = 0;
  for await (const chunk of source) {
    if (!Buffer.isBuffer(chunk)) continue;
    all += chunk.length;
    onBytes(all);
    for (const byte of chunk) {
      if (byte === QUOTE) inQuotes = !inQuotes;
      const isEnd = byte === LINE_FEED || byte === CARRIAGE_RETURN;
      if (isEnd || ends.isOpen) ends.add(byte, inQuotes);
      ofRow = isEnd && !inQuotes ? 0 : ofRow + 1;
      if (ofRow > MAX_ROW_BYTES) return onExceeded();
    }
    yield windows === undefined ? chunk : windows.decode(chunk);
  }
  if (windows !== undefined) yield windows.end();
}

type LineEnd = 'CR LF' | 'LF' | 'CR';

/** The parser takes the first line end for all: anything after a different one becomes part of a cell. */
class LineEnds {
  #line: number;
  #first: { readonly end: LineEnd; readonly line: number } | undefined;
  /** A CR outside quotes was the last byte: the next byte tells whether it was a line end of its own. */
  isOpen = false;

  constructor(firstLine: number) {
    this.#line = firstLine;
  }

  add(byte: number, inQuotes: boolean): void {
    const isFeed = byte === LINE_FEED;
    if (this.isOpen) {
      this.isOpen = false;
      this.#end(isFeed ? 'CR LF' : 'CR');
      if (isFeed) return;
    }
    if (byte === CARRIAGE_RETURN && !inQuotes) this.isOpen = true;
    else if (isFeed && !inQuotes) this.#end('LF');
    else if (isFeed) this.#line += 1;
  }

  #end(end: LineEnd): void {
    this.#first ??= { end, line: this.#line };
    const { end: expected, line } = this.#first;
    if (end !== expected)
      throw new UnreadableTable(
        `its lines end in different ways: line ${line} in ${expected}, line ${this.#line} in ${end}; save it with one of them`,
      );
    this.#line += 1;
  }
}

/** Characters that Dutch names and texts have in UTF-8. Two signs of Windows-1252, such as `É’`, make others. */
const IN_UTF8 = /[\u0080-\u023f]|[\u0300-\u036f]|[\u0800-\u{10ffff}]/u;

/** Decodes Windows-1252, in which any bytes are text, even those of UTF-8: `CoÃ¶peratie`. */
class WindowsLines {
  readonly #decoder = new TextDecoder('windows-1252');
  #line: number;
  #rest: Buffer = Buffer.alloc(0);

  constructor(firstLine: number) {
    this.#line = firstLine;
  }

  /** @returns the text of the complete lines */
  decode(chunk: Buffer): string {
    const bytes = Buffer.concat([this.#rest, chunk]);
    const end = Math.max(bytes.lastIndexOf(LINE_FEED), bytes.lastIndexOf(CARRIAGE_RETURN)) + 1;
    this.#rest = bytes.subarray(end);
    return this.#decodeLines(bytes.subarray(0, end));
  }

  end(): string {
    return this.#decodeLines(this.#rest);
  }

  #decodeLines(lines: Buffer): string {
    const separator = lines.includes(LINE_FEED) ? LINE_FEED : CARRIAGE_RETURN;
    for (let from = 0; from < lines.length; ) {
      const end = lines.indexOf(separator, from);
      const line = lines.subarray(from, end === -1 ? lines.length : end);
      if (!isAscii(line) && isUtf8(line) && IN_UTF8.test(line.toString()))
        throw new UnreadableTable(
          `line ${this.#line} of the file is UTF-8, and the mapping says windows-1252: set csv.encoding to utf-8`,
        );
      from += line.length + 1;
      if (end !== -1) this.#line += 1;
    }
    return this.#decoder.decode(lines);
  }
}
