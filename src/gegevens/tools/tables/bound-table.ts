import type { ValueType } from '../model-shape.ts';
import { type Convert, type Converted, createConvert, fold } from './convert.ts';
import type { ColumnName, FromColumn } from './mapping-file.ts';
import type { ColumnMember, ConstantMember, MemberPlans, Plan, TablePlan } from './plan.ts';
import {
  type Cells,
  cellText,
  columnLetters,
  type Place,
  type Row,
  type TableFaults,
  type TableFile,
} from './table-file.ts';
import { CellFault, damageOfKey, type TargetForm } from './target-form.ts';

/** A column of a sheet that a mapping names. */
export interface Column {
  /** From 0. */
  readonly index: number;
  readonly name: string;
}

interface BoundColumn {
  readonly column: Column;
  readonly convert: Convert;
}

/** How a table fills a record, or the head of a levering. */
export interface Filling {
  readonly members: readonly (BoundColumn & { readonly member: ColumnMember })[];
  readonly constants: readonly ConstantMember[];
  /** By pointer of a list. */
  readonly itemKeys: ReadonlyMap<string, readonly Column[]>;
}

/** The values of a row, kept until its record is made. */
export interface RowValues {
  readonly table: number;
  readonly row: number;
  /** Number of its levering; -1 for a table that adds to records. */
  readonly levering: number;
  /** By column member of the table; `null`: nothing. */
  readonly values: readonly Converted[];
  /** By list with keys: that of this row's item. */
  readonly items: Readonly<Record<string, string>>;
  readonly isFaulty: boolean;
}

interface ReadRow extends Pick<RowValues, 'values' | 'items' | 'isFaulty'> {
  /** Of its record; `undefined`: the row is a record by itself. */
  readonly key: string | undefined;
  readonly levering: { readonly values: readonly Converted[]; readonly key: readonly Converted[] };
}

interface BindOptions {
  readonly plan: Plan;
  readonly table: TablePlan;
  readonly file: TableFile;
  readonly sheet: string | undefined;
  readonly header: Row;
  readonly faults: TableFaults;
  readonly notes: TableFaults;
}

const OF_LEVERING = '; the columns of a levering belong in every main table';

/** A table whose header row has been read. */
export class BoundTable {
  readonly plan: TablePlan;
  readonly sheet: string | undefined;
  /** As they are written. */
  readonly names: readonly string[];
  readonly width: number;
  readonly key: readonly Column[];
  readonly record: Filling;
  readonly levering: Filling;
  readonly leveringKey: readonly BoundColumn[];
  /** Whether a row is of this table; none is when the table lacks a column. */
  readonly reads: (cells: Cells) => boolean;
  readonly #faults: TableFaults;
  readonly #notes: TableFaults;
  readonly #noted = new Set<string>();

  /** Finds the columns of a table. Missing and repeated ones are reported. */
  constructor({ plan, table, file, sheet, header, faults, notes }: BindOptions) {
    this.#faults = faults;
    this.#notes = notes;
    this.names = header.cells.map((cell) => cellText(cell) ?? '');
    const names = this.names.map(normal);
    const missing = new Set<ColumnName>();
    const find = (name: ColumnName, remedy = ''): Column => {
      if (typeof name === 'number') return { index: name - 1, name: names[name - 1] || columnLetters(name - 1) };
      const places = names.flatMap((each, index) => (each === normal(name) ? [index] : []));
      const [index] = places;
      if (places.length !== 1 && !missing.has(name)) {
        missing.add(name);
        const message =
          index === undefined
            ? `no such column; ${names.length} columns were read as ${file.readAs}${remedy}`
            : `${places.length} columns of this name: ${places.map(columnLetters).join(', ')}`;
        faults.add({ sheet, row: header.number, column: name, message });
      }
      return { index: index ?? Number.MAX_SAFE_INTEGER, name };
    };
    const bind = (source: FromColumn, type: ValueType, form?: TargetForm, remedy?: string): BoundColumn => ({
      column: find(source.column, remedy),
      convert: createConvert({ source, type, form, defaults: plan.content, date1904: file.date1904 }),
    });
    const fill = ({ columns, constants }: MemberPlans, remedy?: string): Omit<Filling, 'itemKeys'> => ({
      members: columns.map((member) => ({ member, ...bind(member.source, member.type, member.form, remedy) })),
      constants,
    });
    const { isMain } = table;
    const { key = [], where } = table.mapping;
    this.plan = table;
    this.sheet = sheet;
    this.width = names.findLastIndex((name) => name !== '') + 1;
    const texts = new Set((where?.in ?? where?.notIn ?? []).map(fold));
    const filter = where && find(where.column).index;
    this.key = key.map((name) => find(name));
    const record = fill(table.record);
    const { columns, constants } = plan.levering;
    this.levering = { ...fill({ columns: isMain ? columns : [], constants }, OF_LEVERING), itemKeys: new Map() };
    this.leveringKey = isMain
      ? plan.leveringKey.map(({ source, form }) => bind(source, 'text', form, OF_LEVERING))
      : [];
    const itemKeys = [...table.itemKeys].map(([list, parts]) => [list, parts.map((name) => find(name))] as const);
    this.record = { ...record, itemKeys: new Map(itemKeys) };
    this.reads = (cells) =>
      missing.size === 0 &&
      (filter === undefined || texts.has(fold(cellText(cells[filter]) ?? '')) === (where?.in !== undefined));
  }

  placeOf(row: number, column: Column | undefined): Place {
    if (column === undefined) return { sheet: this.sheet, row };
    const cell = this.sheet === undefined ? undefined : `${columnLetters(column.index)}${row}`;
    return { sheet: this.sheet, row, column: column.name, cell };
  }

  /** Converts the cells of a row. Each unreadable one is a fault. @returns `undefined` when the key of its record is empty, a fault too */
  read({ number: row, cells }: Row): ReadRow | undefined {
    let isFaulty = false;
    const report = (column: Column, { message, form, remedy }: CellFault): void => {
      isFaulty = true;
      this.#faults.add({ ...this.placeOf(row, column), message, form, remedy });
    };
    const convert = (columns: readonly BoundColumn[]): Converted[] =>
      columns.map(({ column, convert }) => {
        const value = convert(cells[column.index], (message) => this.#note(row, column, message));
        if (!(value instanceof CellFault)) return value;
        report(column, value);
        return null;
      });
    const values = convert(this.record.members);
    const levering = { values: convert(this.levering.members), key: convert(this.leveringKey) };
    const items: Record<string, string> = {};
    for (const [pointer, columns] of this.record.itemKeys) {
      const item = keyOf(columns, cells);
      if (item !== undefined) items[pointer] = item;
    }
    for (const column of [...this.key, ...[...this.record.itemKeys.values()].flat()]) {
      const damage = damageOfKey(cells[column.index]);
      if (damage !== undefined) report(column, damage);
    }
    const key = this.key.length === 0 ? undefined : keyOf(this.key, cells);
    if (key !== undefined || this.key.length === 0) return { key, levering, values, items, isFaulty };
    const empty = this.key.find((column) => keyOf([column], cells) === undefined);
    this.#faults.add({ ...this.placeOf(row, empty), message: 'the key of the record is empty' });
    return undefined;
  }

  /** Once for each column. */
  #note(row: number, column: Column, message: string): void {
    const text = `${column.index} ${message}`;
    if (!this.#noted.has(text)) this.#notes.add({ ...this.placeOf(row, column), message });
    this.#noted.add(text);
  }
}

/** Names of columns are compared without case, and with one space where there are several or a line ends. */
function normal(name: string): string {
  return fold(name.replaceAll(/\s+/g, ' '));
}

/** The key formed by columns; `undefined` when any part of it is missing. */
function keyOf(columns: readonly Column[], cells: Cells): string | undefined {
  const texts = columns.map(({ index }) => cellText(cells[index]));
  return texts.some((text) => text === undefined || text === '') ? undefined : JSON.stringify(texts);
}
