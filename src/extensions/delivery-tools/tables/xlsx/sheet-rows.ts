import type { Cell, Row } from '../cell.ts';
import { serialDay } from '../dates.ts';
import { UnreadableTable } from '../table-faults.ts';
import type { MergedAreas } from './merged-areas.ts';
import type { XmlHandler } from './read-xml.ts';
import { type SharedStrings, TextCollector, unescapeText } from './shared-strings.ts';
import type { CellFormat } from './styles.ts';

export interface Workbook {
  readonly strings: SharedStrings;
  /** By style of a cell. */
  readonly formats: readonly CellFormat[];
  readonly date1904: boolean;
}

export const MAX_ROWS = 1_048_576;
const MAX_COLUMNS = 16_384;
const MAX_ROW_CHARACTERS = 4 * 1024 * 1024;
const MAX_VALUE = 256 * 1024;
const ERROR_VALUE = /^#[A-Z0-9/!?_]{1,20}$/;

/** The place of a cell, from 1 and 0. @returns `undefined` for a reference that is none */
export function cellPlace(reference: string): { readonly row: number; readonly column: number } | undefined {
  const [, letters, digits] = /^([A-Z]{1,3})([1-9]\d{0,6})$/.exec(reference) ?? [];
  if (letters === undefined || digits === undefined) return undefined;
  let column = 0;
  for (const letter of letters) column = column * 26 + letter.charCodeAt(0) - 64;
  const row = Number(digits);
  return column > MAX_COLUMNS || row > MAX_ROWS ? undefined : { row, column: column - 1 };
}

/** Makes rows of the XML of a sheet. */
export class SheetReader implements XmlHandler {
  readonly #book: Workbook;
  readonly #merged: MergedAreas;
  readonly #inline = new TextCollector();
  #rows: Row[] = [];
  #row = 0;
  #cells: (Cell | undefined)[] = [];
  #characters = 0;
  #column = -1;
  #type = '';
  #format: CellFormat;
  #value: string | undefined;
  #hasFormula = false;
  #in: 'value' | 'inline' | undefined;

  constructor(book: Workbook, merged: MergedAreas) {
    this.#book = book;
    this.#merged = merged;
  }

  /** The rows that were read since the last call. */
  take(): readonly Row[] {
    const rows = this.#rows;
    this.#rows = [];
    return rows;
  }

  open(name: string, attributes: Readonly<Record<string, string>>): void {
    if (name === 'row') this.#startRow(attributes.r);
    else if (name === 'c') this.#startCell(attributes);
    else if (name === 'v') {
      this.#in = 'value';
      this.#value = '';
    } else if (name === 'f') this.#hasFormula = true;
    else if (name === 'is') {
      this.#in = 'inline';
      this.#inline.start();
    } else if (this.#in === 'inline') this.#inline.open(name);
  }

  close(name: string): void {
    if (name === 'v') this.#in = undefined;
    else if (name === 'is') {
      this.#in = undefined;
      this.#value = this.#inline.finish();
    } else if (this.#in === 'inline') this.#inline.close(name);
    else if (name === 'c') this.#endCell();
    else if (name === 'row') this.#endRow();
  }

  text(part: string): void {
    if (this.#in === 'inline') this.#inline.text(part);
    else if (this.#in === 'value') {
      this.#value = (this.#value ?? '') + part;
      if (this.#value.length > MAX_VALUE) throw this.#unreadable(`a cell of more than ${MAX_VALUE} characters`);
    }
  }

  #startRow(number: string | undefined): void {
    const next = number === undefined ? this.#row + 1 : Number(number);
    if (!Number.isInteger(next) || next <= this.#row || next > MAX_ROWS) {
      throw this.#unreadable('the row after this one has no number that can follow');
    }
    this.#row = next;
    this.#cells = [];
    this.#characters = 0;
    this.#column = -1;
  }

  #startCell({ r, t = 'n', s }: Readonly<Record<string, string>>): void {
    const place = r === undefined ? { row: this.#row, column: this.#column + 1 } : cellPlace(r);
    if (place?.row !== this.#row || place.column <= this.#column || place.column >= MAX_COLUMNS) {
      throw this.#unreadable('a cell with a place that is not in this row, or not after the one before it');
    }
    this.#column = place.column;
    this.#type = t;
    this.#format = s === undefined ? undefined : this.#book.formats[Number(s)];
    this.#value = undefined;
    this.#hasFormula = false;
  }

  #endCell(): void {
    const cell = this.#cell();
    if (cell === undefined) return;
    if (typeof cell === 'string') this.#characters += cell.length;
    if (this.#characters > MAX_ROW_CHARACTERS) {
      throw this.#unreadable(`a row of more than ${MAX_ROW_CHARACTERS} characters`);
    }
    while (this.#cells.length < this.#column) this.#cells.push(undefined);
    this.#cells[this.#column] = cell;
  }

  #endRow(): void {
    this.#merged.fill(this.#row, this.#cells);
    this.#rows.push({ number: this.#row, cells: this.#cells });
  }

  #cell(): Cell | undefined {
    const value = this.#value;
    if (value === undefined) {
      return this.#hasFormula
        ? broken('is a formula without a stored result: open and save the file first')
        : undefined;
    }
    switch (this.#type) {
      case 's':
        return this.#book.strings.get(Number(value)) ?? broken('refers to a text that is not in the file');
      case 'inlineStr':
        return value;
      case 'str':
        return unescapeText(value);
      case 'b':
        return value === '1' || value === 'true';
      case 'e':
        return broken(`holds an error${ERROR_VALUE.test(value) ? ` (${value})` : ''}`);
      case 'd': {
        const [day] = /^\d{4}-\d{2}-\d{2}/.exec(value) ?? [];
        return day === undefined ? broken('is a date that cannot be read') : { kind: 'date', day };
      }
      default:
        return this.#number(value);
    }
  }

  #number(text: string): Cell | undefined {
    const value = text.trim() === '' ? Number.NaN : Number(text);
    if (!Number.isFinite(value)) return text === '' ? undefined : broken('is a number that cannot be read');
    if (this.#format === 'date') {
      const day = serialDay(value, this.#book.date1904);
      return day === undefined ? broken('has the format of a date but is none') : { kind: 'date', day };
    }
    const isPadded = this.#format !== undefined && Number.isInteger(value) && value >= 0;
    return {
      kind: 'number',
      value,
      shown: isPadded ? String(value).padStart(this.#format?.digits ?? 0, '0') : undefined,
    };
  }

  #unreadable(message: string): UnreadableTable {
    return new UnreadableTable(message, { row: this.#row });
  }
}

function broken(message: string): Cell {
  return { kind: 'broken', message };
}
