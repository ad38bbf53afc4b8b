import { isAscii, isUtf8 } from 'node:buffer';
import { createReadStream } from 'node:fs';
import { Readable } from 'node:stream';
import { CsvError, parse } from 'csv-parse';
import type { CsvMapping } from './mapping-file.ts';
import { firstBytes, type OpenOptions, type Row, type TableFile, UnreadableTable } from './table-file.ts';

const SAMPLE_BYTES = 64 * 1024;
const CHUNK_BYTES = 256 * 1024;
const MAX_COLUMNS = 16_384;
/** An unclosed quote would make one cell of the rest of the file; a line of delimiters, a cell for each byte. */
const MAX_ROW_BYTES = 1024 * 1024;
const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const QUOTE = 0x22;
const UNREADABLE = `cannot be read as CSV: it has a quote within a cell or one that is never closed, or more than ${MAX_ROW_BYTES} bytes`;
/** The line in which a file for Excel names its delimiter; programs do not show it as a row. */
const SEPARATOR_LINE = /^(?:\u00ef\u00bb\u00bf)?sep=([^"\r\n])(?:\r\n|\r|\n)/i;
const ROWS_AT_ONCE = 200;

/** @throws {UnreadableTable} for an encoding that is not read */
export async function openCsv(
  path: string,
  { encoding = 'utf-8', delimiter: mapped = ';' }: CsvMapping,
  { signal, onBytes }: OpenOptions,
): Promise<TableFile> {
  const start = await readStart(path);
  const [separatorLine = '', delimiter = mapped] = SEPARATOR_LINE.exec(start) ?? [];
  const firstLine = separatorLine === '' ? 1 : 2;
  const readAs = `${encoding}, delimiter ${delimiter === '\t' ? 'a tab' : JSON.stringify(delimiter)}`;
  return {
    sheets: undefined,
    readAs,
    date1904: false,
    async *rows() {
      const source = createReadStream(path, { highWaterMark: CHUNK_BYTES, signal, start: separatorLine.length });
      let isExceeded = false;
      const bounded = csvBytes(source, {
        encoding,
        firstLine,
        onBytes,
        onExceeded: () => {
          isExceeded = true;
        },
      });
      const bytes = Readable.from(bounded, { objectMode: false });
      const parser = parse({ delimiter, bom: true, relax_column_count: true, max_record_size: MAX_ROW_BYTES });
      bytes.on('error', (error) => parser.destroy(error)).pipe(parser);
      let number = 0;
      let batch: Row[] = [];
      try {
        for await (const cells of parser) {
          number += 1;
          if (!Array.isArray(cells)) continue;
          if (cells.length > MAX_COLUMNS)
            throw new UnreadableTable(`more than ${MAX_COLUMNS} columns`, { row: number });
          batch.push({ number, cells });
          if (batch.length < ROWS_AT_ONCE) continue;
          yield batch;
          batch = [];
        }
      } catch (error) {
        if (!(error instanceof CsvError)) throw error;
        // The rows before the unreadable one are checked too.
        yield batch;
        const at = typeof error.lines === 'number' ? ` (line ${error.lines + firstLine - 1} of the file)` : '';
        const row = Number(error.records ?? number) + 1;
        throw new UnreadableTable(`${UNREADABLE}${at}; the file was read as ${readAs}`, { row });
      } finally {
        source.destroy();
        bytes.destroy();
        parser.destroy();
      }
      if (isExceeded) throw new UnreadableTable(UNREADABLE, { row: number });
      yield batch;
    },
    close: () => undefined,
  };
}

/** Its first bytes. @throws {UnreadableTable} for UTF-16, most of whose texts have zero bytes */
async function readStart(path: string): Promise<string> {
  const start = await firstBytes(path, SAMPLE_BYTES);
  if (start.includes(0)) throw new UnreadableTable('not UTF-8 or Windows-1252 text: save it as CSV UTF-8');
  return start.toString('latin1');
}

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
async function* csvBytes(
  source: AsyncIterable<unknown>,
  { encoding, firstLine, onBytes, onExceeded }: CsvBytesOptions,
): AsyncGenerator<string | Buffer> {
  const decoder = encoding === 'utf-8' ? undefined : new TextDecoder(encoding);
  const ends = new LineEnds(firstLine);
  /** The line that the last chunk ended in, as far as it was read. */
  let begun = Buffer.alloc(0);
  let inQuotes = false;
  let ofRow = 0;
  let all = 0;
  for await (const chunk of source) {
    if (!Buffer.isBuffer(chunk)) continue;
    all += chunk.length;
    onBytes(all);
    let from = 0;
    for (let at = 0; at < chunk.length; at += 1) {
      const byte = chunk[at] ?? 0;
      if (byte === QUOTE) inQuotes = !inQuotes;
      const isEnd = byte === LINE_FEED || byte === CARRIAGE_RETURN;
      if ((isEnd || ends.isOpen) && ends.add(byte, inQuotes) && decoder !== undefined) {
        refuseUtf8(Buffer.concat([begun, chunk.subarray(from, at)]), ends.line - 1);
        begun = Buffer.alloc(0);
        from = at;
      }
      ofRow = isEnd && !inQuotes ? 0 : ofRow + 1;
      if (ofRow > MAX_ROW_BYTES) return onExceeded();
    }
    if (decoder !== undefined) begun = Buffer.concat([begun, chunk.subarray(from)]);
    yield decoder?.decode(chunk) ?? chunk;
  }
  if (decoder !== undefined) refuseUtf8(begun, ends.line);
}

type LineEnd = 'CR LF' | 'LF' | 'CR';

/** The parser takes the first line end for all: anything after a different one becomes part of a cell. */
class LineEnds {
  line: number;
  #first: { readonly end: LineEnd; readonly line: number } | undefined;
  /** A CR outside quotes was the last byte: the next byte tells whether it was a line end of its own. */
  isOpen = false;

  constructor(firstLine: number) {
    this.line = firstLine;
  }

  /** @returns whether a line ended at this byte or before it */
  add(byte: number, inQuotes: boolean): boolean {
    const isFeed = byte === LINE_FEED;
    const wasOpen = this.isOpen;
    this.isOpen = byte === CARRIAGE_RETURN && !inQuotes;
    if (wasOpen) this.#check(isFeed ? 'CR LF' : 'CR');
    else if (isFeed && !inQuotes) this.#check('LF');
    const isEnded = wasOpen || isFeed;
    if (isEnded) this.line += 1;
    return isEnded;
  }

  #check(end: LineEnd): void {
    this.#first ??= { end, line: this.line };
    const { end: expected, line } = this.#first;
    if (end !== expected)
      throw new UnreadableTable(
        `its lines end in different ways: line ${line} in ${expected}, line ${this.line} in ${end}; save it with one of them`,
      );
  }
}

/** Characters that Dutch names and texts have in UTF-8. Two signs of Windows-1252, such as `É’`, make others. */
const IN_UTF8 = /[\u0080-\u023f]|[\u0300-\u036f]|[\u0800-\u{10ffff}]/u;

/** In Windows-1252 any bytes are text, even those of UTF-8: `CoÃ¶peratie`. @throws {UnreadableTable} */
function refuseUtf8(line: Buffer, number: number): void {
  if (!isAscii(line) && isUtf8(line) && IN_UTF8.test(line.toString()))
    throw new UnreadableTable(
      `line ${number} of the file is UTF-8, and the mapping says windows-1252: set csv.encoding to utf-8`,
    );
}
