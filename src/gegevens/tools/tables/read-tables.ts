import { type ItemList, listsOf } from '../../../lib/exchange-model/mapping.ts';
import type { PartCheck } from '../../../lib/exchange-model/model.ts';
import { type JsonObject, withValueAt } from '../../../lib/json/json-value.ts';
import { describeError, ImportStopped } from '../../import/faults.ts';
import { MessageStore } from '../message-store.ts';
import { ScratchFull } from '../scratch.ts';
import { Assembly, type RowValues } from './assemble.ts';
import { BoundTable, type Column, convertCells, keyOf } from './bound-table.ts';
import type { CellFault } from './cell-fault.ts';
import { fold } from './convert.ts';
import type { Plan, TablePlan } from './plan.ts';
import { RecordBuilder } from './record-builder.ts';
import {
  type Cell,
  columnLetters,
  isEmptyRow,
  type Place,
  REPLACEMENT,
  type Row,
  type TableFault,
  TableFaults,
  type TableFile,
  UnreadableTable,
} from './table-file.ts';
import { damageOfKey } from './target-form.ts';

const MAX_LEVERINGEN = 10_000;

interface ReadOptions {
  readonly plan: Plan;
  /** @throws {UnreadableTable} */
  readonly open: () => Promise<TableFile>;
  readonly envelop: JsonObject;
  readonly signal: AbortSignal;
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
  /** The table that the records of a list begin in. */
  readonly mainTables: ReadonlyMap<ItemList, MainTable>;
}

export interface MainTable {
  readonly sheet: string | undefined;
  /** Names of the columns that make the key of a record. */
  readonly key: readonly string[];
}

/**
 * Reads all tables of a file, makes records of their rows and judges these by the model. Nothing is stored.
 * @throws the signal's reason; errors of the file system
 */
export async function readTables(options: ReadOptions): Promise<ReadTables> {
  const reader = new TableReader(options);
  const { message, faults, notes, records, samples } = reader;
  let file: TableFile | undefined;
  try {
    file = await options.open();
    await reader.read(file);
  } catch (error) {
    try {
      options.signal.throwIfAborted();
      addStop(faults, error);
    } catch (reason) {
      message.close();
      throw reason;
    }
  } finally {
    reader.close();
    file?.close();
  }
  return { message, faults: faults.list, notes: notes.list, records, samples, mainTables: reader.mainTables() };
}

/** Adds the reason why reading stopped. @throws errors that are not faults of the file */
function addStop(faults: TableFaults, error: unknown): void {
  if (error instanceof UnreadableTable) faults.add({ ...error.place, message: error.message });
  else if (error instanceof ScratchFull) faults.add({ message: 'more rows than may be sorted on disk' });
  else if (!(error instanceof ImportStopped)) throw error;
}

const isDamagedText = (cell: Cell | undefined): boolean => typeof cell === 'string' && cell.includes(REPLACEMENT);

class TableReader {
  readonly message: MessageStore;
  readonly faults = new TableFaults();
  readonly notes = new TableFaults(Number.POSITIVE_INFINITY);
  readonly records = { records: 0, zaken: 0 };
  readonly samples: Record<ItemList, unknown[]> = { records: [], zaken: [] };
  readonly #options: ReadOptions;
  readonly #bound = new Map<number, BoundTable>();
  readonly #builders: ReadonlyMap<ItemList, RecordBuilder>;
  /** Tables that lack a column: their rows are not read. */
  readonly #incomplete = new Set<number>();
  /** The last row that was reported for its length: several tables may be in a sheet. */
  #reportedRow = 0;
  readonly #said = new Set<string>();
  /** Numbers of leveringen, by their values in a row. */
  readonly #leveringen = new Map<string, number>();

  constructor(options: ReadOptions) {
    const { plan } = options;
    this.#options = options;
    this.message = new MessageStore(plan.model.mapping);
    const lists = new Set(plan.tables.map(({ list }) => list));
    this.#builders = new Map([...lists].map((list) => [list, this.#builder(list)]));
  }

  async read(file: TableFile): Promise<void> {
    const { plan, envelop } = this.#options;
    const whole = withValueAt(envelop, plan.model.mapping.envelop.leveringen, []);
    this.#judge(plan.model.envelop, whole, {}, 'of the envelope');
    // A levering without rows exists too: there may be nothing to deliver.
    if (plan.levering.columns.length === 0 && plan.leveringKey.length === 0) this.#levering([], [], {});
    for (const [sheet, tables] of Map.groupBy(plan.tables, (table) => this.#sheetOf(table, file))) {
      if (file.sheets === undefined || sheet !== undefined) await this.#readSheet(file, sheet, tables);
    }
    for (const builder of this.#builders.values()) builder.finish();
    if (this.faults.isEmpty && this.message.leveringen.length === 0) this.faults.add({ message: 'no rows' });
  }

  mainTables(): ReadonlyMap<ItemList, MainTable> {
    const bound = [...this.#bound.values()].filter(({ plan }) => plan.isMain);
    return new Map(bound.map(({ plan, sheet, key }) => [plan.list, { sheet, key: key.map(({ name }) => name) }]));
  }

  close(): void {
    for (const builder of this.#builders.values()) builder.close();
  }

  #builder(list: ItemList): RecordBuilder {
    const { plan, samples, progress, onRecord } = this.#options;
    return new RecordBuilder({
      plan,
      list,
      message: this.message,
      faults: this.faults,
      notes: this.notes,
      tableOf: (index) => {
        const table = this.#bound.get(index);
        if (table === undefined) throw new TypeError('a row of a table without columns');
        return table;
      },
      onRecord: (record) => {
        this.records[list] += 1;
        if (this.samples[list].length < samples) this.samples[list].push(record);
        onRecord?.(list, record);
        progress?.(this.records.records + this.records.zaken);
      },
    });
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
          const bound = this.#bound.get(table.index);
          if (bound === undefined) this.#begin(table, file, sheet, row);
          else if (!this.#incomplete.has(table.index) && bound.reads(row.cells)) this.#read(bound, row, file);
        }
      }
    }
    for (const { index } of tables) if (!this.#bound.has(index)) this.faults.add({ sheet, message: 'no header row' });
  }

  /** Whether a row has bytes that are not UTF-8, in a column that is read or in another. */
  #isDamaged({ number: row, cells }: Row, tables: readonly TablePlan[]): boolean {
    if (!cells.some(isDamagedText)) return false;
    const [bound] = tables.flatMap(({ index }) => this.#bound.get(index) ?? []);
    for (const [index, cell] of cells.entries()) {
      if (!isDamagedText(cell)) continue;
      const column = bound?.names[index] || columnLetters(index);
      this.faults.add({ row, column, message: 'is not valid UTF-8; is the file Windows-1252 (csv.encoding)?' });
    }
    // The names of columns are still needed: otherwise every later row would be misread.
    return bound !== undefined;
  }

  #begin(table: TablePlan, file: TableFile, sheet: string | undefined, row: Row): void {
    const { header = row.number } = table.mapping;
    if (row.number < header) return;
    if (row.number > header) throw new UnreadableTable('the header row is empty', { sheet, row: header });
    const report = (place: Place, message: string): void => {
      this.#incomplete.add(table.index);
      this.faults.add({ ...place, message });
    };
    const { plan } = this.#options;
    this.#bound.set(table.index, new BoundTable({ plan, table, file, sheet, header: row, report }));
  }

  #read(table: BoundTable, whole: Row, file: TableFile): void {
    const { number: row, cells } = whole;
    const { plan } = table;
    if (file.sheets === undefined && !this.#hasRightWidth(table, whole, file)) return;
    let isFaulty = false;
    const report = (column: Column, { message, form, remedy }: CellFault): void => {
      isFaulty = true;
      this.faults.add({ ...table.placeOf(row, column), message, form, remedy });
    };
    const note = (column: Column, message: string): void => {
      const text = `${plan.index} ${column.index} ${message}`;
      if (this.#said.has(text)) return;
      this.#said.add(text);
      this.notes.add({ ...table.placeOf(row, column), message });
    };
    const values = convertCells(table.record, cells, report, note);
    const ofLevering = convertCells(table.levering, cells, report, note);
    const leveringKey = convertCells(table.leveringKey, cells, report, note);
    const items: Record<string, string> = {};
    for (const [pointer, columns] of table.itemKeys) {
      const item = keyOf(columns, cells);
      if (item !== undefined) items[pointer] = item;
    }
    for (const column of [...table.key, ...[...table.itemKeys.values()].flat()]) {
      const damage = damageOfKey(cells[column.index]);
      if (damage !== undefined) report(column, damage);
    }
    const key = table.key.length === 0 ? undefined : keyOf(table.key, cells);
    if (table.key.length > 0 && key === undefined) {
      const empty = table.key.find((column) => keyOf([column], cells) === undefined);
      this.faults.add({ ...table.placeOf(row, empty), message: 'the key of the record is empty' });
      return;
    }
    const place = { sheet: table.sheet, row };
    const levering = plan.isMain ? this.#levering(ofLevering, leveringKey, place, table, isFaulty) : -1;
    this.#builders.get(plan.list)?.add(key, { table: plan.index, row, levering, values, items, isFaulty });
  }

  /** In CSV a row whose length differs from that of the header has a delimiter too many, or is truncated. */
  #hasRightWidth({ width }: BoundTable, { number: row, cells }: Row, { readAs }: TableFile): boolean {
    if (cells.length >= width && cells.slice(width).every((cell) => cell === '')) return true;
    const message = `${cells.length} cells, and ${width} columns; the file was read as ${readAs}`;
    if (row !== this.#reportedRow) this.faults.add({ row, message });
    this.#reportedRow = row;
    return false;
  }

  /** The number of the levering that a row belongs to. */
  #levering(
    values: RowValues['values'],
    key: readonly unknown[],
    place: Place,
    table?: BoundTable,
    isFaulty = false,
  ): number {
    const text = JSON.stringify([values, key]);
    const known = this.#leveringen.get(text);
    if (known !== undefined) return known;
    if (this.#leveringen.size >= MAX_LEVERINGEN)
      throw new UnreadableTable(`more than ${MAX_LEVERINGEN} leveringen`, place);
    const { levering: plan, model } = this.#options.plan;
    const row = { table: 0, row: 0, levering: 0, values, items: {}, isFaulty };
    const filling = { members: table?.levering ?? [], constants: plan.constants, itemKeys: new Map() };
    const { value } = new Assembly([row], () => filling);
    const nummer = this.message.leveringen.length;
    this.#leveringen.set(text, nummer);
    let head: JsonObject = withValueAt(value, model.mapping.levering.teller, nummer + 1);
    // The lists come last: first the records, then the cases.
    for (const [list, path] of listsOf(model.mapping))
      if (list === 'records' || this.#builders.has(list)) head = withValueAt(head, path, []);
    this.message.leveringen.push(head);
    if (!isFaulty) this.#judge(model.levering, head, place, 'of the levering');
    return nummer;
  }

  #judge(check: PartCheck, value: unknown, place: Place, what: string): void {
    for (const error of check.ok(value) ? [] : check.faults(value))
      this.faults.add({ ...place, pointer: error.instancePath, message: `${what}: ${describeError(error)}` });
  }
}
