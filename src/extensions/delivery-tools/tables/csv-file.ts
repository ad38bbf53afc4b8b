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
const UNREADABLE = `cannot be read as CSV: it has a quote within a cell or one that is never closed, or more than ${MAX_ROW_BYTES} bytes`;
const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const QUOTE = 0x22;
const ROWS_AT_ONCE = 200;

/** @throws {UnreadableTable} for an encoding that is not read */
export async function openCsv(
  path: string,
  { encoding = 'utf-8', delimiter = ';' }: CsvMapping,
  { signal, onBytes }: OpenOptions,
): Promise<TableFile> {
  await refuseUtf16(path);
  const readAs = `${encoding}, delimiter ${delimiter === '\t' ? 'a tab' : JSON.stringify(delimiter)}`;
  return {
    sheets: undefined,
    readAs,
    date1904: false,
    async *rows() {
      const source = createReadStream(path, { highWaterMark: CHUNK_BYTES, signal });
      let isExceeded = false;
      const bounded = boundedRows(source, encoding, onBytes, () => {
        isExceeded = true;
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
        // The rows before the one that cannot be read are judged too.
        yield batch;
        const at = typeof error.lines === 'number' ? ` (line ${error.lines} of the file)` : '';
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

/** The bytes of a file as UTF-8. It ends where a row has too many: the parser counts those of the cells only, not their delimiters. */
async function* boundedRows(
  source: AsyncIterable<unknown>,
  encoding: string,
  onBytes: OpenOptions['onBytes'],
  onExceeded: () => void,
): AsyncGenerator<Buffer> {
  const decoder = encoding === 'utf-8' ? undefined : new TextDecoder(encoding);
  let inQuotes = false;
  let ofRow = 0;
  let all = 0;
  for await (const chunk of source) {
    if (!Buffer.isBuffer(chunk)) continue;
    all += chunk.length;
    onBytes(all);
    for (const byte of chunk) {
      if (byte === QUOTE) inQuotes = !inQuotes;
      ofRow = !inQuotes && (byte === LINE_FEED || byte === CARRIAGE_RETURN) ? 0 : ofRow + 1;
      if (ofRow > MAX_ROW_BYTES) return onExceeded();
    }
    yield decoder === undefined ? chunk : Buffer.from(decoder.decode(chunk, { stream: true }));
  }
}

/** @throws {UnreadableTable} for UTF-16, most of whose texts have zero bytes */
async function refuseUtf16(path: string): Promise<void> {
  await using file = await open(path);
  const { buffer, bytesRead } = await file.read(Buffer.alloc(SAMPLE_BYTES), 0, SAMPLE_BYTES, 0);
  if (buffer.subarray(0, bytesRead).includes(0))
    throw new UnreadableTable('not UTF-8 or Windows-1252 text: save it as CSV UTF-8');
}
