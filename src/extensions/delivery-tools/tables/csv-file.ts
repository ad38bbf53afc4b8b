import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { CsvError, parse } from 'csv-parse';
import type { CsvMapping } from './mapping-file.ts';
import { type OpenOptions, type Row, type TableFile, UnreadableTable } from './table-file.ts';

const SAMPLE_BYTES = 64 * 1024;
const CHUNK_BYTES = 256 * 1024;
/** A quote that is never closed would make one cell of the rest of the file; a line of delimiters a cell of each byte. */
const MAX_ROW_BYTES = 1024 * 1024;
const MAX_COLUMNS = 16_384;
const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const ROWS_AT_ONCE = 200;
const DELIMITERS = [';', ',', '\t', '|'];
/** A first line by which spreadsheet programs recognise the delimiter. */
const SEPARATOR_LINE = /^sep=(.)\r?\n/;

interface CsvOptions extends OpenOptions {
  readonly csv: CsvMapping;
  /** The row of column names, where the mapping gives its number. */
  readonly header: number | undefined;
}

/** @throws {UnreadableTable} for an encoding that is not read */
export async function openCsv(path: string, { csv, header, signal, onBytes }: CsvOptions): Promise<TableFile> {
  const encoding = csv.encoding ?? 'utf-8';
  const sample = new TextDecoder(encoding).decode(await firstBytes(path));
  const separator = SEPARATOR_LINE.exec(sample)?.[1];
  const quote = csv.quote ?? '"';
  const delimiter = csv.delimiter ?? separator ?? guessDelimiter(sample, quote, header);
  const shown = delimiter === '\t' ? 'a tab' : JSON.stringify(delimiter);
  const readAs = `${encoding}, delimiter ${shown}${csv.delimiter === undefined ? ' (guessed; csv.delimiter sets it)' : ''}`;
  return {
    kind: 'csv',
    sheets: [],
    readAs,
    date1904: false,
    async *rows() {
      const source = createReadStream(path, { highWaterMark: CHUNK_BYTES, signal });
      const bounded = new RowBound(quote);
      const bytes = Readable.from(bounded.pass(decoded(source, encoding, onBytes)), { objectMode: false });
      const parser = parse({
        ...{ delimiter, quote, bom: true, relax_column_count: true, skip_empty_lines: false },
        max_record_size: MAX_ROW_BYTES,
      });
      bytes.on('error', (error) => parser.destroy(error)).pipe(parser);
      let number = 0;
      let batch: Row[] = [];
      try {
        for await (const record of parser) {
          number += 1;
          if (!Array.isArray(record)) continue;
          if (record.length > MAX_COLUMNS)
            throw new UnreadableTable(`more than ${MAX_COLUMNS} columns`, { row: number });
          batch.push({ number, cells: number === 1 && separator !== undefined ? [] : record });
          if (batch.length < ROWS_AT_ONCE) continue;
          yield batch;
          batch = [];
        }
      } catch (error) {
        if (!(error instanceof CsvError)) throw error;
        // The rows before the one that cannot be read are judged too.
        yield batch;
        const { records = number, lines } = error;
        const at = typeof lines === 'number' ? ` (line ${lines} of the file)` : '';
        const message = `${csvMessage(bounded.isExceeded ? TOO_LONG : error.code)}${at}; the file was read as ${readAs}`;
        throw new UnreadableTable(message, { row: Number(records) + 1 });
      } finally {
        source.destroy();
        bytes.destroy();
        parser.destroy();
      }
      if (bounded.isExceeded) throw new UnreadableTable(csvMessage(TOO_LONG), { row: number });
      yield batch;
    },
    close: () => undefined,
  };
}

const TOO_LONG = 'CSV_MAX_RECORD_SIZE';

function csvMessage(code: string): string {
  switch (code) {
    case 'CSV_QUOTE_NOT_CLOSED':
      return 'a quote that is opened in this row is never closed: is the file truncated?';
    case TOO_LONG:
      return `the row has more than ${MAX_ROW_BYTES} bytes: is a quote opened in it and not closed?`;
    case 'CSV_INVALID_CLOSING_QUOTE':
    case 'INVALID_OPENING_QUOTE':
      return 'a quote within a cell: a cell with quotes is itself in quotes, and they are doubled in it';
    default:
      return `this row cannot be read as CSV (${code})`;
  }
}

/** Ends a file where a row has too many bytes: the parser counts those of the cells only, not their delimiters. */
class RowBound {
  readonly #quote: number;
  isExceeded = false;

  constructor(quote: string) {
    this.#quote = quote.charCodeAt(0);
  }

  async *pass(source: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    let inQuotes = false;
    let bytes = 0;
    for await (const chunk of source) {
      for (const byte of chunk) {
        if (byte === this.#quote) inQuotes = !inQuotes;
        bytes = !inQuotes && (byte === LINE_FEED || byte === CARRIAGE_RETURN) ? 0 : bytes + 1;
        if (bytes <= MAX_ROW_BYTES) continue;
        this.isExceeded = true;
        return;
      }
      yield chunk;
    }
  }
}

/** The bytes of a file as UTF-8. */
async function* decoded(
  source: AsyncIterable<unknown>,
  encoding: string,
  onBytes: (bytes: number) => void,
): AsyncGenerator<Buffer> {
  const decoder = encoding === 'utf-8' ? undefined : new TextDecoder(encoding);
  let bytes = 0;
  for await (const chunk of source) {
    if (!Buffer.isBuffer(chunk)) continue;
    bytes += chunk.length;
    onBytes(bytes);
    yield decoder === undefined ? chunk : Buffer.from(decoder.decode(chunk, { stream: true }));
  }
}

async function firstBytes(path: string): Promise<Buffer> {
  await using file = await open(path);
  const { buffer, bytesRead } = await file.read(Buffer.alloc(SAMPLE_BYTES), 0, SAMPLE_BYTES, 0);
  const bytes = buffer.subarray(0, bytesRead);
  const isUtf16 = (bytes[0] === 0xff && bytes[1] === 0xfe) || (bytes[0] === 0xfe && bytes[1] === 0xff);
  if (isUtf16 || bytes.includes(0)) throw new UnreadableTable('not UTF-8 or Windows-1252 text: save it as CSV UTF-8');
  return bytes;
}

/** Whichever delimiter the row of column names has most of, outside quotes; the semicolon when it has none. */
function guessDelimiter(sample: string, quote: string, header: number | undefined): string {
  const counts = new Map(DELIMITERS.map((delimiter) => [delimiter, 0]));
  let row = 1;
  let inQuotes = false;
  for (const character of sample) {
    if (character === quote) inQuotes = !inQuotes;
    if (inQuotes) continue;
    const count = counts.get(character);
    if (count !== undefined && (header === undefined || row === header)) counts.set(character, count + 1);
    if (character !== '\n') continue;
    if (row === header || (header === undefined && [...counts.values()].some((each) => each > 0))) break;
    row += 1;
  }
  const [best] = [...counts].toSorted(([, a], [, b]) => b - a);
  return best?.[0] ?? ';';
}
