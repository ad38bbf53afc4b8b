/** What files of tables have in common, CSV or XLSX: rows of cells. */

/** A number in a spreadsheet. */
interface NumberCell {
  readonly kind: 'number';
  readonly value: number;
  /** Its text when its format shows leading zeros (`000000000`). */
  readonly shown: string | undefined;
}

/** A date in a spreadsheet. */
interface DateCell {
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
/** By column, from 0; an empty cell is `undefined` or an empty text. */
export type Cells = readonly (Cell | undefined)[];

export interface Row {
  /** From 1, as a spreadsheet program shows it. */
  readonly number: number;
  readonly cells: Cells;
}

/** A file of tables. */
export interface TableFile {
  readonly kind: 'csv' | 'xlsx';
  /** Names of the sheets; empty for CSV. */
  readonly sheets: readonly string[];
  /** For messages: how it was read. */
  readonly readAs: string;
  /** The first Excel day number is 1 January 1904 instead of 1900. */
  readonly date1904: boolean;
  /**
   * The rows in batches: a step of an asynchronous loop for each row would take longer than reading it.
   * @param sheet `undefined` for CSV
   */
  rows(sheet: string | undefined): AsyncIterable<readonly Row[]>;
  close(): void;
}

export interface OpenOptions {
  readonly signal: AbortSignal;
  /** @param bytes read so far; of sheets, unpacked */
  readonly onBytes: (bytes: number) => void;
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

/** Where in a table something is. */
export interface Place {
  /** Name of the sheet; absent for CSV. */
  readonly sheet?: string | undefined;
  /** As a spreadsheet program numbers it: from 1, with empty rows, and a cell of several lines counted once. */
  readonly row?: number | undefined;
  /** Name of the column, or its letters where it has none. */
  readonly column?: string | undefined;
  /** `C5`. */
  readonly cell?: string | undefined;
}

/** The file as a whole cannot be read as a table, from here on. The message is for people and repeats no value. */
export class UnreadableTable extends Error {
  readonly place: Place;
  constructor(message: string, place: Place = {}) {
    super(message);
    this.name = 'UnreadableTable';
    this.place = place;
  }
}

/** `A`, `Z`, `AA`: the letters of a column. @param index from 0 */
export function columnLetters(index: number): string {
  const letters = String.fromCharCode(65 + (index % 26));
  return index < 26 ? letters : columnLetters(Math.floor(index / 26) - 1) + letters;
}
