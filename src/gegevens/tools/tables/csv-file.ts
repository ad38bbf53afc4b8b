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
  const start = await firstBytes(path, SAMPLE_BYTES);
  // Most texts in UTF-16 have zero bytes.
  if (start.includes(0)) throw new UnreadableTable('not UTF-8 or Windows-1252 text: save it as CSV UTF-8');
  const [separatorLine = '', delimiter = mapped] = SEPARATOR_LINE.exec(start.toString('latin1')) ?? [];
  const firstLine = separatorLine === '' ? 1 : 2;
  const readAs = `${encoding}, delimiter ${delimiter === '\t' ? 'a tab' : JSON.stringify(delimiter)}`;
  return {
    sheets: undefined,
    readAs,
    date1904: false,
    async *rows() {
      const source = createReadStream(path, { highWaterMark: CHUNK_BYTES, signal, start: separatorLine.length });
      const lines = new CsvLines(encoding, firstLine);
      const bytes = Readable.from(lines.read(source, onBytes), { objectMode: false });
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
      if (lines.isExceeded) throw new UnreadableTable(UNREADABLE, { row: number });
      yield batch;
    },
    close: () => undefined,
  };
}

/**
 * Reads lines before the parser does: that counts cells but not delimiters, and takes the first line end for all, so that anything after a different
 * one becomes part of a cell.
 */
class CsvLines {
  /** A row is too long; nothing follows then. */
  isExceeded = false;
  readonly #encoding: 'utf-8' | 'windows-1252';
  #line: number;
  #firstEnd: { readonly end: string; readonly line: number } | undefined;

  /** @param line number of the one at which the source begins */
  constructor(encoding: 'utf-8' | 'windows-1252', line: number) {
    this.#encoding = encoding;
    this.#line = line;
  }

  /** The bytes as UTF-8. @param onBytes gets the number of bytes read so far @throws {UnreadableTable} for mixed line ends or a wrong encoding */
  async *read(source: AsyncIterable<unknown>, onBytes: (bytes: number) => void): AsyncGenerator<string | Buffer> {
    const decoder = this.#encoding === 'utf-8' ? undefined : new TextDecoder(this.#encoding);
    /** The line that the last chunk ended in, as far as it was read. */
    let begun = Buffer.alloc(0);
    let inQuotes = false;
    /** The last byte was a CR outside quotes: the next one tells whether that was a line end of its own. */
    let isOpen = false;
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
        const isFeed = byte === LINE_FEED;
        if (isOpen || isFeed) {
          const ofReturn = isFeed ? 'CR LF' : 'CR';
          if (isOpen || !inQuotes) this.#checkEnd(isOpen ? ofReturn : 'LF');
          this.#line += 1;
          if (decoder !== undefined) {
            refuseUtf8(Buffer.concat([begun, chunk.subarray(from, at)]), this.#line - 1);
            begun = Buffer.alloc(0);
            from = at;
          }
        }
        isOpen = byte === CARRIAGE_RETURN && !inQuotes;
        ofRow = isOpen || (isFeed && !inQuotes) ? 0 : ofRow + 1;
        if (ofRow <= MAX_ROW_BYTES) continue;
        this.isExceeded = true;
        return;
      }
      if (decoder !== undefined) begun = Buffer.concat([begun, chunk.subarray(from)]);
      yield decoder?.decode(chunk) ?? chunk;
    }
    if (decoder !== undefined) refuseUtf8(begun, this.#line);
  }

  #checkEnd(end: string): void {
    this.#firstEnd ??= { end, line: this.#line };
    const { end: expected, line } = this.#firstEnd;
    if (end === expected) return;
    const lines = `line ${line} in ${expected}, line ${this.#line} in ${end}`;
    throw new UnreadableTable(`its lines end in different ways: ${lines}; save it with one of them`);
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
