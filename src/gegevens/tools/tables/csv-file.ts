import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { CsvError, parse } from 'csv-parse';
import { csvBytes, MAX_ROW_BYTES } from './csv-bytes.ts';
import type { CsvMapping } from './mapping-file.ts';
import { type OpenOptions, type Row, type TableFile, UnreadableTable } from './table-file.ts';

const SAMPLE_BYTES = 64 * 1024;
const CHUNK_BYTES = 256 * 1024;
const MAX_COLUMNS = 16_384;
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
  await using file = await open(path);
  const { buffer, bytesRead } = await file.read(Buffer.alloc(SAMPLE_BYTES), 0, SAMPLE_BYTES, 0);
  const start = buffer.subarray(0, bytesRead);
  if (start.includes(0)) throw new UnreadableTable('not UTF-8 or Windows-1252 text: save it as CSV UTF-8');
  return start.toString('latin1');
}
