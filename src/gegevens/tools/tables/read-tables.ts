/** Reads all tables of a file, makes records of their rows and judges these by the model. Nothing is stored. */
import { extname } from 'node:path';
import type { ItemList } from '../../../lib/exchange-model/mapping.ts';
import type { JsonObject } from '../../../lib/json/json-value.ts';
import { ImportStopped } from '../../import/faults.ts';
import type { MessageStore } from '../message-store.ts';
import { ScratchFull } from '../scratch.ts';
import { BoundTable } from './bound-table.ts';
import { fold } from './convert.ts';
import { openCsv } from './csv-file.ts';
import type { Plan, TablePlan } from './plan.ts';
import { RecordBuilder } from './record-builder.ts';
import {
  type Cell,
  columnLetters,
  firstBytes,
  isEmptyRow,
  type OpenOptions,
  REPLACEMENT,
  type Row,
  type TableFault,
  TableFaults,
  type TableFile,
  UnreadableTable,
} from './table-file.ts';
import { openXlsx } from './xlsx/workbook.ts';

interface ReadOptions {
  readonly plan: Plan;
  readonly path: string;
  /** With an empty list of leveringen. */
  readonly envelop: JsonObject;
  readonly signal: AbortSignal;
  readonly onBytes: OpenOptions['onBytes'];
  /** How many of the first records of each list are kept for display. */
  readonly samples: number;
  readonly progress?: (records: number) => void;
  /** Receives each record and case, with or without faults. */
  readonly onRecord?: (list: ItemList, record: unknown) => void;
}

/** The result of reading tables: a message ready to be imported, and all faults. */
export interface ReadTables {
  readonly message: MessageStore;
  readonly faults: readonly TableFault[];
  /** Probable mistakes that are imported nevertheless: rows that occur twice. */
  readonly notes: readonly TableFault[];
  readonly records: Readonly<Record<ItemList, number>>;
  /** The first records of each list as they would be imported. */
  readonly samples: Readonly<Record<ItemList, readonly unknown[]>>;
  /** The table that the records of a list begin in: its sheet, and the names of the columns that make the key of a record. */
  readonly mainTables: ReadonlyMap<ItemList, { readonly sheet: string | undefined; readonly key: readonly string[] }>;
}

/** @throws the signal's reason; errors of the file system */
export async function readTables(options: ReadOptions): Promise<ReadTables> {
  const reader = new TableReader(options);
  const { faults, notes, records, samples, builder } = reader;
  let file: TableFile | undefined;
  try {
    file = await openTableFile(options.path, options.plan, options);
    await reader.read(file);
  } catch (error) {
    try {
      options.signal.throwIfAborted();
      addStop(faults, error);
    } catch (reason) {
      builder.message.close();
      throw reason;
    }
  } finally {
    builder.close();
    file?.close();
  }
  const mainTables = reader.mainTables();
  return { message: builder.message, faults: faults.list, notes: notes.list, records, samples, mainTables };
}

const ZIP = Buffer.from('PK\u0003\u0004', 'latin1');
/** The format of Excel before 2007, and of workbooks with a password. */
const OLE = Buffer.from([0xd0, 0xcf, 0x11, 0xe0]);

/** Opens a file of tables: XLSX by its name or its first bytes, else CSV. @throws {UnreadableTable} when it is neither; errors of the file system */
async function openTableFile(path: string, { content }: Plan, options: OpenOptions): Promise<TableFile> {
  const start = await firstBytes(path, ZIP.length);
  if (start.equals(OLE))
    throw new UnreadableTable('an XLS file, or a workbook with a password: save it as XLSX without a password');
  const isXlsx = start.equals(ZIP) || ['.xlsx', '.xlsm'].includes(extname(path).toLowerCase());
  return isXlsx ? await openXlsx(path, options) : await openCsv(path, content.csv ?? {}, options);
}

/** Adds the reason why reading stopped. @throws errors that are not faults of the file */
function addStop(faults: TableFaults, error: unknown): void {
  if (error instanceof UnreadableTable) faults.add({ ...error.place, message: error.message });
  else if (error instanceof ScratchFull) faults.add({ message: 'more rows than may be sorted on disk' });
  else if (!(error instanceof ImportStopped)) throw error;
}

const isDamagedText = (cell: Cell | undefined): boolean => typeof cell === 'string' && cell.includes(REPLACEMENT);

class TableReader {
  readonly faults = new TableFaults();
  readonly notes = new TableFaults(Number.POSITIVE_INFINITY);
  readonly records = { records: 0, zaken: 0 };
  readonly samples: Record<ItemList, unknown[]> = { records: [], zaken: [] };
  readonly builder: RecordBuilder;
  readonly #options: ReadOptions;
  readonly #tables = new Map<number, BoundTable>();
  /** The last row that was reported for its length: several tables may be in a sheet. */
  #reportedRow = 0;

  constructor(options: ReadOptions) {
    const { plan, samples, progress } = options;
    this.#options = options;
    this.builder = new RecordBuilder({
      plan,
      tables: this.#tables,
      faults: this.faults,
      notes: this.notes,
      onRecord: (list, record) => {
        this.records[list] += 1;
        if (this.samples[list].length < samples) this.samples[list].push(record);
        options.onRecord?.(list, record);
        progress?.(this.records.records + this.records.zaken);
      },
    });
  }

  async read(file: TableFile): Promise<void> {
    const { builder } = this;
    const { plan, envelop } = this.#options;
    const { model, levering } = plan;
    builder.judge(model.envelop, envelop, {}, 'of the envelope');
    // A levering without rows exists too: there may be nothing to deliver.
    if (levering.columns.length === 0 && plan.leveringKey.length === 0) {
      const filling = { members: [], constants: levering.constants, itemKeys: new Map() };
      builder.levering({ values: [], key: [] }, {}, filling, false);
    }
    for (const [sheet, tables] of Map.groupBy(plan.tables, (table) => this.#sheetOf(table, file))) {
      if (file.sheets === undefined || sheet !== undefined) await this.#readSheet(file, sheet, tables);
    }
    builder.finish();
    if (this.faults.isEmpty && builder.message.leveringen.length === 0) this.faults.add({ message: 'no rows' });
  }

  mainTables(): ReadTables['mainTables'] {
    const main = [...this.#tables.values()].filter(({ plan }) => plan.isMain);
    return new Map(main.map(({ plan, sheet, key }) => [plan.list, { sheet, key: key.map(({ name }) => name) }]));
  }

  /** The sheet of a table; `undefined` for CSV, and for a sheet that is not there. */
  #sheetOf({ mapping: { sheet: wanted } }: TablePlan, { sheets }: TableFile): string | undefined {
    if (sheets === undefined) {
      if (wanted !== undefined) this.faults.add({ sheet: wanted, message: 'a CSV file has no sheets' });
      return undefined;
    }
    const sheet = wanted === undefined ? sheets[0] : sheets.find((name) => fold(name) === fold(wanted));
    if (sheet === undefined) {
      const names = sheets.map((name) => JSON.stringify(name)).join(', ');
      this.faults.add({ sheet: wanted, message: `the workbook has no such sheet; it has ${names}` });
    }
    return sheet;
  }

  async #readSheet(file: TableFile, sheet: string | undefined, tables: readonly TablePlan[]): Promise<void> {
    for await (const rows of file.rows(sheet)) {
      this.#options.signal.throwIfAborted();
      for (const row of rows) {
        if (isEmptyRow(row) || (file.sheets === undefined && this.#isDamaged(row, tables))) continue;
        for (const table of tables) {
          const bound = this.#tables.get(table.index);
          if (bound === undefined) this.#begin(table, file, sheet, row);
          else if (bound.reads(row.cells)) this.#read(bound, row, file);
        }
      }
    }
    for (const { index } of tables) if (!this.#tables.has(index)) this.faults.add({ sheet, message: 'no header row' });
  }

  /** Whether a row has bytes that are not UTF-8, in a column that is read or in another. */
  #isDamaged({ number: row, cells }: Row, tables: readonly TablePlan[]): boolean {
    if (!cells.some(isDamagedText)) return false;
    const [bound] = tables.flatMap(({ index }) => this.#tables.get(index) ?? []);
    for (const [index, cell] of cells.entries()) {
      if (!isDamagedText(cell)) continue;
      const column = bound?.names[index] || columnLetters(index);
      this.faults.add({ row, column, message: 'is not valid UTF-8; is the file Windows-1252 (csv.encoding)?' });
    }
    // The names of columns are still needed: otherwise every later row would be misread.
    return bound !== undefined;
  }

  #begin(table: TablePlan, file: TableFile, sheet: string | undefined, header: Row): void {
    const { header: wanted = header.number } = table.mapping;
    if (header.number < wanted) return;
    if (header.number > wanted) throw new UnreadableTable('the header row is empty', { sheet, row: wanted });
    const { plan } = this.#options;
    const { faults, notes } = this;
    this.#tables.set(table.index, new BoundTable({ plan, table, file, sheet, header, faults, notes }));
  }

  #read(table: BoundTable, row: Row, file: TableFile): void {
    if (file.sheets === undefined && !this.#hasRightWidth(table, row, file)) return;
    const read = table.read(row);
    if (read === undefined) return;
    const { key, levering: of, ...values } = read;
    const { index, list, isMain } = table.plan;
    const place = { sheet: table.sheet, row: row.number };
    const levering = isMain ? this.builder.levering(of, place, table.levering, values.isFaulty) : -1;
    this.builder.add(list, key, { table: index, row: row.number, levering, ...values });
  }

  /** In CSV a row whose length differs from that of the header has a delimiter too many, or is truncated. */
  #hasRightWidth({ width }: BoundTable, { number: row, cells }: Row, { readAs }: TableFile): boolean {
    if (cells.length >= width && cells.slice(width).every((cell) => cell === '')) return true;
    const message = `${cells.length} cells, and ${width} columns; the file was read as ${readAs}`;
    if (row !== this.#reportedRow) this.faults.add({ row, message });
    this.#reportedRow = row;
    return false;
  }
}
