import { type Cell, cellText, type Row, type TableFile } from './cell.ts';
import { CellFault, type Convert, type Converted, createConvert, fold } from './convert.ts';
import type { ColumnName, FromColumn, TableMapping, ValueType } from './mapping-file.ts';
import type { ColumnMember, MemberPlans, Plan, TablePlan } from './plan.ts';
import { columnLetters, type Place } from './table-faults.ts';

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

interface BoundMember extends BoundColumn {
  readonly member: ColumnMember;
}

/** A table whose columns were found in its sheet. */
export interface BoundTable {
  readonly plan: TablePlan;
  readonly sheet: string | undefined;
  /** Cells of the row of names; 0 when there is none. */
  readonly width: number;
  /** Whether a row is read. */
  readonly reads: (cells: readonly (Cell | undefined)[]) => boolean;
  readonly key: readonly Column[];
  readonly record: readonly BoundMember[];
  readonly levering: readonly BoundMember[];
  readonly leveringKey: readonly BoundColumn[];
  /** By pointer of a list. */
  readonly itemKeys: ReadonlyMap<string, readonly Column[]>;
}

/** What a row says, as it is kept until its record is made. */
export interface RowValues {
  readonly table: number;
  readonly row: number;
  /** Number of its levering; -1 for a table that adds to records. */
  readonly levering: number;
  /** By column member of the table; `null`: nothing. */
  readonly values: readonly Converted[];
  /** By list with keys: that of this row's item. */
  readonly items: Readonly<Record<string, string>>;
  /** Whether a cell could not be read. */
  readonly isFaulty: boolean;
}

interface BindOptions {
  readonly plan: Plan;
  readonly table: TablePlan;
  readonly file: TableFile;
  readonly sheet: string | undefined;
  /** The row of names; `undefined` when the table has none. */
  readonly header: Row | undefined;
  readonly report: (place: Place, message: string) => void;
}

/** Finds the columns of a table. What is missing, or there twice, is reported. */
export function bindColumns({ plan, table, file, sheet, header, report }: BindOptions): BoundTable {
  const names = (header?.cells ?? []).map((cell) => normal(cellText(cell) ?? ''));
  const reported = new Set<ColumnName>();
  const find = (name: ColumnName, remedy = ''): Column => {
    if (typeof name === 'number') return { index: name - 1, name: names[name - 1] || columnLetters(name - 1) };
    const places = names.flatMap((each, index) => (each === normal(name) ? [index] : []));
    const [index] = places;
    if (places.length !== 1 && !reported.has(name)) {
      reported.add(name);
      const place = { sheet, row: header?.number, column: name };
      if (index === undefined)
        report(place, `no such column; ${names.length} columns were read as ${file.readAs}${remedy}`);
      else report(place, `${places.length} columns of this name: ${places.map(columnLetters).join(', ')}`);
    }
    return { index: index ?? Number.MAX_SAFE_INTEGER, name };
  };
  const { key = [], where } = table.mapping;
  const bindColumn = (source: FromColumn, type: ValueType, remedy?: string): BoundColumn => ({
    column: find(source.column, remedy),
    convert: createConvert({ source, type, defaults: plan.content, date1904: file.date1904 }),
  });
  const bind = ({ columns }: MemberPlans, remedy?: string): BoundMember[] =>
    columns.map((member) => ({ member, ...bindColumn(member.source, member.type, remedy) }));
  return {
    plan: table,
    sheet,
    width: names.findLastIndex((name) => name !== '') + 1,
    reads: where === undefined ? () => true : filterOf(where, find(where.column)),
    key: key.map((name) => find(name)),
    record: bind(table.record),
    levering: table.isMain ? bind(plan.levering, OF_LEVERING) : [],
    leveringKey: table.isMain ? plan.leveringKey.map((source) => bindColumn(source, 'text', OF_LEVERING)) : [],
    itemKeys: new Map([...table.itemKeys].map(([pointer, columns]) => [pointer, columns.map((name) => find(name))])),
  };
}

const OF_LEVERING = '; the columns of a levering belong in every main table';

function filterOf(
  { in: wanted, notIn = [] }: NonNullable<TableMapping['where']>,
  { index }: Column,
): BoundTable['reads'] {
  const texts = new Set((wanted ?? notIn).map(fold));
  return (cells) => texts.has(fold(cellText(cells[index]) ?? '')) === (wanted !== undefined);
}

/** Names of columns are compared without case, and with one space where there are several or a line ends. */
function normal(name: string): string {
  return name.trim().replaceAll(/\s+/g, ' ').toLowerCase();
}

/** The place of a cell. */
export function placeOf({ sheet }: BoundTable, row: number, column: Column | undefined): Place {
  if (column === undefined) return { sheet, row };
  const cell = sheet === undefined ? undefined : `${columnLetters(column.index)}${row}`;
  return { sheet, row, column: column.name, cell };
}

/** The key that columns make; `undefined` when all or some of it is missing. */
export function keyOf(columns: readonly Column[], cells: readonly (Cell | undefined)[]): string | undefined {
  const texts = columns.map(({ index }) => cellText(cells[index]));
  return texts.some((text) => text === undefined || text === '') ? undefined : JSON.stringify(texts);
}

/** Reads the cells of members. @param report is called for each that cannot be read */
export function convertCells(
  columns: readonly BoundColumn[],
  cells: readonly (Cell | undefined)[],
  report: (column: Column, fault: CellFault) => void,
): Converted[] {
  return columns.map(({ column, convert }) => {
    const value = convert(cells[column.index]);
    if (!(value instanceof CellFault)) return value;
    report(column, value);
    return null;
  });
}
