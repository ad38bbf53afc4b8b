import type { ValueType } from '../model-shape.ts';
import { CellFault } from './cell-fault.ts';
import { type Convert, type Converted, createConvert, fold, type Note } from './convert.ts';
import type { ColumnName, FromColumn } from './mapping-file.ts';
import type { ColumnMember, MemberPlans, Plan, TablePlan } from './plan.ts';
import { type Cells, cellText, columnLetters, type Place, type Row, type TableFile } from './table-file.ts';
import type { TargetForm } from './target-form.ts';

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

export interface BoundMember extends BoundColumn {
  readonly member: ColumnMember;
}

interface BindOptions {
  readonly plan: Plan;
  readonly table: TablePlan;
  readonly file: TableFile;
  readonly sheet: string | undefined;
  readonly header: Row;
  readonly report: (place: Place, message: string) => void;
}

const OF_LEVERING = '; the columns of a levering belong in every main table';

export class BoundTable {
  readonly plan: TablePlan;
  readonly sheet: string | undefined;
  /** As they are written. */
  readonly names: readonly string[];
  readonly width: number;
  readonly key: readonly Column[];
  readonly record: readonly BoundMember[];
  readonly levering: readonly BoundMember[];
  readonly leveringKey: readonly BoundColumn[];
  /** By pointer of a list. */
  readonly itemKeys: ReadonlyMap<string, readonly Column[]>;
  readonly reads: (cells: Cells) => boolean;

  /** Finds the columns of a table. Missing and repeated ones are reported. */
  constructor({ plan, table, file, sheet, header, report }: BindOptions) {
    this.names = header.cells.map((cell) => cellText(cell) ?? '');
    const names = this.names.map(normal);
    const reported = new Set<ColumnName>();
    const find = (name: ColumnName, remedy = ''): Column => {
      if (typeof name === 'number') return { index: name - 1, name: names[name - 1] || columnLetters(name - 1) };
      const places = names.flatMap((each, index) => (each === normal(name) ? [index] : []));
      const [index] = places;
      if (places.length !== 1 && !reported.has(name)) {
        reported.add(name);
        const message =
          index === undefined
            ? `no such column; ${names.length} columns were read as ${file.readAs}${remedy}`
            : `${places.length} columns of this name: ${places.map(columnLetters).join(', ')}`;
        report({ sheet, row: header.number, column: name }, message);
      }
      return { index: index ?? Number.MAX_SAFE_INTEGER, name };
    };
    const bindColumn = (source: FromColumn, type: ValueType, form?: TargetForm, remedy?: string): BoundColumn => ({
      column: find(source.column, remedy),
      convert: createConvert({ source, type, form, defaults: plan.content, date1904: file.date1904 }),
    });
    const bind = ({ columns }: MemberPlans, remedy?: string): BoundMember[] =>
      columns.map((member) => ({ member, ...bindColumn(member.source, member.type, member.form, remedy) }));
    const { key = [], where } = table.mapping;
    this.plan = table;
    this.sheet = sheet;
    this.width = names.findLastIndex((name) => name !== '') + 1;
    const texts = new Set((where?.in ?? where?.notIn ?? []).map(fold));
    const filter = where && find(where.column).index;
    this.reads = (cells) =>
      filter === undefined || texts.has(fold(cellText(cells[filter]) ?? '')) === (where?.in !== undefined);
    this.key = key.map((name) => find(name));
    this.record = bind(table.record);
    this.levering = table.isMain ? bind(plan.levering, OF_LEVERING) : [];
    this.leveringKey = table.isMain
      ? plan.leveringKey.map(({ source, form }) => bindColumn(source, 'text', form, OF_LEVERING))
      : [];
    this.itemKeys = new Map(
      [...table.itemKeys].map(([pointer, columns]) => [pointer, columns.map((name) => find(name))]),
    );
  }

  placeOf(row: number, column: Column | undefined): Place {
    if (column === undefined) return { sheet: this.sheet, row };
    const cell = this.sheet === undefined ? undefined : `${columnLetters(column.index)}${row}`;
    return { sheet: this.sheet, row, column: column.name, cell };
  }
}

/** Names of columns are compared without case, and with one space where there are several or a line ends. */
function normal(name: string): string {
  return fold(name.replaceAll(/\s+/g, ' '));
}

/** The key formed by columns; `undefined` when any part of it is missing. */
export function keyOf(columns: readonly Column[], cells: Cells): string | undefined {
  const texts = columns.map(({ index }) => cellText(cells[index]));
  return texts.some((text) => text === undefined || text === '') ? undefined : JSON.stringify(texts);
}

/**
 * Reads the cells of members.
 * @param report is called for each unreadable cell
 * @param note for remarks made once per column
 */
export function convertCells(
  columns: readonly BoundColumn[],
  cells: Cells,
  report: (column: Column, fault: CellFault) => void,
  note: (column: Column, message: string) => void,
): Converted[] {
  return columns.map(({ column, convert }) => {
    const say: Note = (message) => note(column, message);
    const value = convert(cells[column.index], say);
    if (!(value instanceof CellFault)) return value;
    report(column, value);
    return null;
  });
}
