import { describeError, ImportStopped } from '../../../gegevens/import/faults.ts';
import type { ItemList } from '../../../gegevens/model/mapping.ts';
import type { JsonObject } from '../../../lib/jades/protected-header.ts';
import { withValueAt } from '../../../lib/json/json-value.ts';
import { assemble } from './assemble.ts';
import { type BoundTable, bindColumns, convertCells, keyOf, placeOf, type RowValues } from './bind-columns.ts';
import { type Cell, isEmptyRow, type Row, type TableFile } from './cell.ts';
import { type CellFault, fold } from './convert.ts';
import { DeliveryMessage } from './delivery-message.ts';
import { SorterFull } from './disk-sorter.ts';
import type { Plan, TablePlan } from './plan.ts';
import { RecordBuilder } from './record-builder.ts';
import { type TableFault, TableFaults, UnreadableTable } from './table-faults.ts';

/** Each is in memory. */
const MAX_LEVERINGEN = 10_000;

interface ReadOptions {
  readonly plan: Plan;
  readonly file: TableFile;
  readonly envelop: JsonObject;
  readonly signal: AbortSignal;
  /** How many of the first records of each list are kept to be shown. */
  readonly samples: number;
  readonly progress?: (records: number) => void;
}

/** What tables say: a message that waits to be imported, and all that is wrong with them. */
export interface ReadTables {
  readonly message: DeliveryMessage;
  readonly faults: readonly TableFault[];
  /** What is probably not meant, and is imported nevertheless: rows that are there twice. */
  readonly notes: readonly TableFault[];
  readonly records: Readonly<Record<ItemList, number>>;
  /** The first records of each list as they would be imported. */
  readonly samples: Readonly<Record<ItemList, readonly unknown[]>>;
  /** Where the record on a line of the message comes from. */
  placeOf(line: number): { readonly sheet?: string | undefined; readonly row: number } | undefined;
}

/**
 * Reads all tables of a file, makes records of their rows and judges these by the model. Nothing is stored.
 * @throws the signal's reason; what the file system says
 */
export async function readTables(options: ReadOptions): Promise<ReadTables> {
  const reader = new TableReader(options);
  try {
    await reader.read();
  } catch (error) {
    if (options.signal.aborted) {
      reader.message.close();
      throw options.signal.reason;
    }
    if (error instanceof UnreadableTable) reader.faults.add({ ...error.place, message: error.message });
    else if (error instanceof SorterFull) reader.faults.add({ message: 'more rows than may be sorted on disk' });
    else if (!(error instanceof ImportStopped)) {
      reader.message.close();
      throw error;
    }
  } finally {
    reader.close();
  }
  const { message, faults, notes, records, samples, sheets } = reader;
  return {
    message,
    faults: faults.list,
    notes: notes.list,
    records,
    samples,
    placeOf: (line) => {
      const place = message.placeOf(line);
      return place === undefined ? undefined : { sheet: sheets.get(place.table), row: place.row };
    },
  };
}

/** Turns a file that cannot be opened as a table into one with that fault. */
export async function unreadableTables(plan: Plan, read: () => Promise<ReadTables>): Promise<ReadTables> {
  try {
    return await read();
  } catch (error) {
    if (!(error instanceof UnreadableTable)) throw error;
    return {
      message: new DeliveryMessage(plan.model, false),
      faults: [{ ...error.place, message: error.message }],
      notes: [],
      records: { records: 0, zaken: 0 },
      samples: { records: [], zaken: [] },
      placeOf: () => undefined,
    };
  }
}

class TableReader {
  readonly faults = new TableFaults();
  readonly notes = new TableFaults(Number.POSITIVE_INFINITY);
  readonly message: DeliveryMessage;
  readonly records = { records: 0, zaken: 0 };
  readonly samples: Record<ItemList, unknown[]> = { records: [], zaken: [] };
  /** By table: the sheet that it is in. */
  readonly sheets = new Map<number, string | undefined>();
  readonly #options: ReadOptions;
  readonly #bound = new Map<number, BoundTable>();
  readonly #builders: ReadonlyMap<ItemList, RecordBuilder>;
  /** Tables that lack a column: their rows are not read. */
  readonly #incomplete = new Set<number>();
  /** The last row that was reported for its length: several tables may be in a sheet. */
  #reportedRow = 0;
  /** By what a row says of its levering. */
  readonly #leveringen = new Map<string, number>();

  constructor(options: ReadOptions) {
    const { plan } = options;
    this.#options = options;
    const lists = new Set(plan.tables.map(({ list }) => list));
    this.message = new DeliveryMessage(plan.model, lists.has('zaken'));
    this.#builders = new Map([...lists].map((list) => [list, this.#builder(list)]));
  }

  async read(): Promise<void> {
    const { plan, file, envelop } = this.#options;
    const { envelop: check, mapping } = plan.model;
    const whole = withValueAt(envelop, mapping.envelop.leveringen, []);
    if (!check.ok(whole)) {
      for (const error of check.faults(whole)) {
        this.faults.add({ pointer: error.instancePath, message: `of the envelope: ${describeError(error)}` });
      }
    }
    // A levering of which no row says anything is there without rows too: there may be nothing to deliver.
    if (plan.levering.columns.length === 0 && plan.leveringKey.length === 0)
      this.#levering({ values: [], key: [] }, { sheet: undefined, row: undefined });
    for (const [sheet, tables] of Map.groupBy(plan.tables, (table) => this.#sheetOf(table))) {
      if (file.kind === 'csv' || sheet !== undefined) await this.#readSheet(sheet, tables);
    }
    for (const builder of this.#builders.values()) builder.finish();
    if (this.faults.isEmpty && this.message.leveringen.length === 0) this.faults.add({ message: 'no rows' });
  }

  close(): void {
    for (const builder of this.#builders.values()) builder.close();
  }

  #builder(list: ItemList): RecordBuilder {
    const { plan, samples, progress } = this.#options;
    return new RecordBuilder({
      ...{ plan, list, message: this.message, faults: this.faults, notes: this.notes },
      tableOf: (index) => {
        const table = this.#bound.get(index);
        if (table === undefined) throw new TypeError('a row of a table without columns');
        return table;
      },
      onRecord: (of, record) => {
        this.records[of] += 1;
        if (this.samples[of].length < samples) this.samples[of].push(record);
        progress?.(this.records.records + this.records.zaken);
      },
    });
  }

  /** The sheet of a table; `undefined` for CSV, and for a sheet that is not there. */
  #sheetOf({ index, mapping }: TablePlan): string | undefined {
    const { file } = this.#options;
    if (file.kind === 'csv') {
      if (mapping.sheet !== undefined) this.faults.add({ sheet: mapping.sheet, message: 'a CSV file has no sheets' });
      return undefined;
    }
    const sheet =
      mapping.sheet === undefined
        ? file.sheets[0]
        : file.sheets.find((name) => fold(name) === fold(mapping.sheet ?? ''));
    if (sheet === undefined) {
      const names = file.sheets.map((name) => JSON.stringify(name)).join(', ');
      this.faults.add({ sheet: mapping.sheet, message: `the workbook has no such sheet; it has ${names}` });
    }
    this.sheets.set(index, sheet);
    return sheet;
  }

  async #readSheet(sheet: string | undefined, tables: readonly TablePlan[]): Promise<void> {
    const { file, signal } = this.#options;
    for await (const rows of file.rows(sheet)) {
      signal.throwIfAborted();
      for (const row of rows) {
        if (isEmptyRow(row)) continue;
        for (const table of tables) this.#row(table, sheet, row);
      }
    }
    for (const table of tables) {
      if (!this.#bound.has(table.index)) this.faults.add({ sheet, message: 'no row of column names' });
    }
  }

  #row(table: TablePlan, sheet: string | undefined, row: Row): void {
    const bound = this.#bound.get(table.index);
    if (bound !== undefined) {
      this.#read(bound, row);
      return;
    }
    const { header } = table.mapping;
    if (typeof header === 'number' && row.number < header) return;
    if (typeof header === 'number' && row.number > header)
      throw new UnreadableTable('the row of names is empty', { sheet, row: header });
    const { plan, file } = this.#options;
    let isIncomplete = false;
    const opened = bindColumns({
      ...{ plan, table, file, sheet, header: header === 'none' ? undefined : row },
      report: (place, message) => {
        isIncomplete = true;
        this.faults.add({ ...place, message });
      },
    });
    this.#bound.set(table.index, opened);
    if (isIncomplete) this.#incomplete.add(table.index);
    if (header === 'none') this.#read(opened, row);
  }

  #read(table: BoundTable, { number: row, cells }: Row): void {
    const { plan, key: keyColumns } = table;
    if (this.#incomplete.has(plan.index)) return;
    if (!table.reads(cells)) return;
    if (!this.#hasRightWidth(table, row, cells)) return;
    let isFaulty = false;
    const report = (column: BoundTable['key'][number], { message, form, remedy }: CellFault): void => {
      isFaulty = true;
      this.faults.add({ ...placeOf(table, row, column), message, form, remedy });
    };
    const values = convertCells(table.record, cells, report);
    const ofLevering = convertCells(table.levering, cells, report);
    const leveringKey = convertCells(table.leveringKey, cells, report);
    const items: Record<string, string> = {};
    for (const [pointer, columns] of table.itemKeys) {
      const item = keyOf(columns, cells);
      if (item !== undefined) items[pointer] = item;
    }
    const key = keyColumns.length === 0 ? undefined : keyOf(keyColumns, cells);
    if (keyColumns.length > 0 && key === undefined) {
      const empty = keyColumns.find((column) => keyOf([column], cells) === undefined);
      this.faults.add({ ...placeOf(table, row, empty), message: 'the key of the record is empty' });
      return;
    }
    const levering = plan.isMain
      ? this.#levering({ values: ofLevering, key: leveringKey }, { sheet: table.sheet, row }, table, isFaulty)
      : -1;
    const found: RowValues = { table: plan.index, row, levering, values, items, isFaulty };
    this.#builders.get(plan.list)?.add(key, found);
  }

  /** In CSV a row of another length than that of the names has a delimiter too many, or is truncated. */
  #hasRightWidth(table: BoundTable, row: number, cells: readonly (Cell | undefined)[]): boolean {
    const { plan, file } = this.#options;
    if (file.kind !== 'csv' || table.width === 0) return true;
    const isLonger = cells.slice(table.width).some((cell) => cell !== '');
    const isShorter = cells.length < table.width && plan.content.csv?.shortRows !== true;
    if (!isLonger && !isShorter) return true;
    const message = `${cells.length} cells, and ${table.width} columns; the file was read as ${file.readAs}`;
    if (row !== this.#reportedRow) this.faults.add({ row, message });
    this.#reportedRow = row;
    return false;
  }

  /** The number of the levering that a row belongs to. */
  #levering(
    { values, key }: { readonly values: RowValues['values']; readonly key: readonly unknown[] },
    place: { readonly sheet: string | undefined; readonly row: number | undefined },
    table?: BoundTable,
    isFaulty = false,
  ): number {
    const text = JSON.stringify([values, key]);
    const known = this.#leveringen.get(text);
    if (known !== undefined) return known;
    if (this.#leveringen.size >= MAX_LEVERINGEN)
      throw new UnreadableTable(`more than ${MAX_LEVERINGEN} leveringen`, place);
    const { levering: plan, model } = this.#options.plan;
    const { value: head } = assemble({
      rows: [{ table: 0, row: place.row ?? 0, levering: 0, values, items: {}, isFaulty }],
      tableOf: () => ({ members: table?.levering ?? [], constants: plan.constants, itemKeys: new Map() }),
      trace: false,
    });
    const nummer = this.message.addLevering(head);
    this.#leveringen.set(text, nummer);
    const whole = this.message.leveringen[nummer];
    if (!isFaulty && !model.levering.ok(whole)) {
      for (const error of model.levering.faults(whole)) {
        this.faults.add({ ...place, pointer: error.instancePath, message: `of the levering: ${describeError(error)}` });
      }
    }
    return nummer;
  }
}
