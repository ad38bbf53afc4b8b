/** The common form of tables, CSV or XLSX: rows of cells. */
import { open } from 'node:fs/promises';
import { ImportStopped } from '../../import/faults.ts';

interface NumberCell {
  readonly kind: 'number';
  readonly value: number;
  readonly shown: string | undefined;
}

interface DateCell {
  readonly kind: 'date';
  /** `YYYY-MM-DD`. */
  readonly day: string;
  /** The day of a moment with an offset from UTC. */
  readonly hasOffset?: boolean;
}

/** A cell without a usable value; the message gives the reason. */
interface BrokenCell {
  readonly kind: 'broken';
  readonly message: string;
}

/** Stands for bytes that were not text. */
export const REPLACEMENT = '\ufffd';

export type Cell = string | boolean | NumberCell | DateCell | BrokenCell;
/** By column, from 0; an empty cell is `undefined` or an empty text. */
export type Cells = readonly (Cell | undefined)[];

export interface Row {
  /** From 1, as a spreadsheet program shows it. */
  readonly number: number;
  readonly cells: Cells;
}

export interface TableFile {
  readonly sheets: readonly string[] | undefined;
  readonly readAs: string;
  /** The first Excel day number is 1 January 1904 instead of 1900. */
  readonly date1904: boolean;
  /** The rows in batches: an asynchronous step for each row would take longer than reading it. @param sheet `undefined` for CSV */
  rows(sheet: string | undefined): AsyncIterable<readonly Row[]>;
  close(): void;
}

export interface OpenOptions {
  readonly signal: AbortSignal;
  readonly onBytes: (bytes: number) => void;
}

/** The first bytes of a file, at most this many. @throws errors of the file system */
export async function firstBytes(path: string, most: number): Promise<Buffer> {
  await using file = await open(path);
  const { buffer, bytesRead } = await file.read(Buffer.alloc(most), 0, most, 0);
  return buffer.subarray(0, bytesRead);
}

/** The trimmed text of a cell, for a key or a name; `undefined` for a cell without a usable value. */
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

export interface Place {
  readonly sheet?: string | undefined;
  /** As a spreadsheet program numbers it: from 1, including empty rows, with a multi-line cell counted once. */
  readonly row?: number | undefined;
  /** Name of the column, or its letters where it has none. */
  readonly column?: string | undefined;
  /** `C5`. */
  readonly cell?: string | undefined;
}

/** The rest of the file is unreadable as a table. The message is for people and repeats no value. */
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

/** A fault in a table. Values of cells are never repeated: they may be personal. */
export interface TableFault extends Place {
  /** JSON Pointer of the member in the message or record, if any. */
  readonly pointer?: string | undefined;
  readonly message: string;
  /** Character classes of the cell, and the remedy: reported when a whole column has the fault. */
  readonly form?: string | undefined;
  readonly remedy?: string | undefined;
}

export function faultText({ sheet, row, column, cell, pointer, message }: TableFault): string {
  const place = [
    ...(sheet === undefined ? [] : [`sheet ${sheet}`]),
    ...(row === undefined ? [] : [`row ${row}`]),
    ...(column === undefined ? [] : [`column ${column}${cell === undefined ? '' : ` (${cell})`}`]),
  ];
  return [place.join(', '), pointer, message].filter((part) => part !== undefined && part !== '').join('  ');
}

/** A fault in several rows of a column is reported once, with their number. */
const MAX_OF_COLUMN = 10;

const MAX_TABLE_FAULTS = 1000;

export class TableFaults {
  readonly #columns = new Map<string, { readonly first: TableFault[]; count: number }>();
  readonly #most: number;
  #kept = 0;

  /** @param most faults before reading stops */
  constructor(most = MAX_TABLE_FAULTS) {
    this.#most = most;
  }

  get isEmpty(): boolean {
    return this.#kept === 0;
  }

  /** In the order of the file, with faults of the whole file first. */
  get list(): readonly TableFault[] {
    const said = [...this.#columns.values()].flatMap(({ first, count }) => {
      const [one] = first;
      if (one !== undefined && count > MAX_OF_COLUMN) return [ofWholeColumn(one, count)];
      return first.map(({ form: _form, remedy: _remedy, ...fault }) => fault);
    });
    return said.toSorted((a, b) => (a.row ?? 0) - (b.row ?? 0));
  }

  /** @throws {ImportStopped} when there are enough */
  add(fault: TableFault): void {
    const { sheet, column, pointer, message } = fault;
    // The same in every row, except for row numbers.
    const key = JSON.stringify([
      sheet,
      column,
      ...[pointer ?? '', message].map((text) => text.replaceAll(/\d+/g, '0')),
    ]);
    const found = this.#columns.get(key) ?? { first: [], count: 0 };
    this.#columns.set(key, found);
    found.count += 1;
    if (found.count > MAX_OF_COLUMN) return;
    found.first.push(fault);
    this.#kept += 1;
    if (this.#kept >= this.#most) throw new ImportStopped();
  }
}

function ofWholeColumn({ form, remedy, cell: _cell, ...first }: TableFault, count: number): TableFault {
  const such = form === undefined ? '' : `, such as ${form}`;
  const advice = remedy === undefined ? '' : `; ${remedy}`;
  return { ...first, message: `${first.message} (${count} rows${such})${advice}` };
}
