/** A number in a spreadsheet. */
export interface NumberCell {
  readonly kind: 'number';
  readonly value: number;
  /** Its text when its format shows leading zeros (`000000000`). */
  readonly shown: string | undefined;
}

/** A date in a spreadsheet. */
export interface DateCell {
  readonly kind: 'date';
  /** `YYYY-MM-DD`. */
  readonly day: string;
}

/** A cell that has no usable value; the message says why. */
interface BrokenCell {
  readonly kind: 'broken';
  readonly message: string;
}

/** What is in a cell. CSV has texts only. */
export type Cell = string | boolean | NumberCell | DateCell | BrokenCell;

export interface Row {
  /** From 1, as a spreadsheet program shows it. */
  readonly number: number;
  /** By column, from 0; an empty cell is `undefined` or an empty text. */
  readonly cells: readonly (Cell | undefined)[];
}

/** Rows in parts, for a step of an asynchronous loop for each row would take longer than reading it. */
export type Rows = AsyncIterable<readonly Row[]>;

/** A file of tables. */
export interface TableFile {
  readonly kind: 'csv' | 'xlsx';
  /** Names of the sheets; none for CSV. */
  readonly sheets: readonly string[];
  /** For messages: how it was read. */
  readonly readAs: string;
  /** The first Excel day number is 1 January 1904 instead of 1900. */
  readonly date1904: boolean;
  /** @param sheet `undefined` for CSV */
  rows(sheet: string | undefined): Rows;
  close(): Promise<void>;
}

/** The text of a cell without surrounding white space, as a key or a name; `undefined` for a cell without a usable value. */
export function cellText(cell: Cell | undefined): string | undefined {
  if (cell === undefined) return '';
  if (typeof cell === 'string') return cell.trim();
  if (typeof cell === 'boolean') return cell ? 'WAAR' : 'ONWAAR';
  if (cell.kind === 'number') return cell.shown ?? String(cell.value);
  return cell.kind === 'date' ? cell.day : undefined;
}

export function isEmptyRow({ cells }: Row): boolean {
  return cells.every((cell) => cell === undefined || (typeof cell === 'string' && cell.trim() === ''));
}
