/** Makes rows from the XML of a sheet. */

import { dayOfMoment, isDay } from '../../../../lib/time.ts';
import { serialDate } from '../convert.ts';
import { type Cell, type Row, UnreadableTable } from '../table-file.ts';
import { readWholeXml, type XmlElement, type XmlHandler } from './archive.ts';
import type { CellFormat } from './cell-format.ts';

export interface CellContext {
  readonly strings: readonly string[];
  readonly formats: readonly CellFormat[];
  readonly date1904: boolean;
}

const MAX_ROWS = 1_048_576;
const MAX_COLUMNS = 16_384;
const MAX_CHARACTERS = 4 * 1024 * 1024;
const MAX_AREAS = 200_000;
const ERROR_VALUE = /^#[A-Z0-9/!?_]{1,20}$/;
const INDEX = /^\s*\d{1,10}\s*$/;
const BOOLEANS: ReadonlyMap<string, boolean> = new Map([
  ['1', true],
  ['true', true],
  ['0', false],
  ['false', false],
]);
const NUMBER = /^[+-]?\d*(?:\.\d*)?(?:[eE][+-]?\d+)?$/;

/** The text of an `si` or `is` element: that of all `t` in it, without phonetic guides (`rPh`). */
export class RichText {
  #text = '';

  add({ name, text, parent }: XmlElement): void {
    if (name !== 't' || parent?.name === 'rPh') return;
    this.#text += text;
    if (this.#text.length > MAX_CHARACTERS)
      throw new UnreadableTable(`a text of more than ${MAX_CHARACTERS} characters`);
  }

  take(): string {
    const text = unescapeText(this.#text);
    this.#text = '';
    return text;
  }
}

/** `_x000D_` stands for a character that XML cannot hold. */
function unescapeText(text: string): string {
  if (!text.includes('_x')) return text;
  return text.replaceAll(/_x([0-9A-Fa-f]{4})_/g, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)));
}

export class SheetRows implements XmlHandler {
  readonly #context: CellContext;
  readonly #merged: MergedAreas;
  readonly #inline = new RichText();
  #rows: Row[] = [];
  #row = 0;
  #cells: (Cell | undefined)[] = [];
  #characters = 0;
  #column = -1;
  #value: string | undefined;
  #hasFormula = false;

  constructor(context: CellContext, merged: MergedAreas) {
    this.#context = context;
    this.#merged = merged;
  }

  take(): readonly Row[] {
    const rows = this.#rows;
    this.#rows = [];
    return rows;
  }

  readonly open = ({ name, attributes }: XmlElement): void => {
    if (name !== 'row') return;
    const next = attributes.r === undefined ? this.#row + 1 : Number(attributes.r);
    if (!Number.isInteger(next) || next <= this.#row || next > MAX_ROWS) {
      throw this.#unreadable('the row after this one has no number that can follow');
    }
    this.#row = next;
    this.#cells = [];
    this.#characters = 0;
    this.#column = -1;
  };

  readonly close = (element: XmlElement): void => {
    switch (element.name) {
      case 'v':
        this.#value = element.text;
        break;
      case 'f':
        this.#hasFormula = true;
        break;
      case 't':
        this.#inline.add(element);
        break;
      case 'is':
        this.#value = this.#inline.take();
        break;
      case 'c':
        this.#endCell(element.attributes);
        break;
      case 'row':
        this.#merged.fill(this.#row, this.#cells);
        this.#rows.push({ number: this.#row, cells: this.#cells });
    }
  };

  #endCell({ r, t = 'n', s }: XmlElement['attributes']): void {
    const place = r === undefined ? { row: this.#row, column: this.#column + 1 } : cellPlace(r);
    if (place?.row !== this.#row || place.column <= this.#column || place.column >= MAX_COLUMNS) {
      throw this.#unreadable('a cell with a place that is not in this row, or not after the one before it');
    }
    this.#column = place.column;
    const cell = this.#cell(t, s === undefined ? undefined : this.#context.formats[Number(s)]);
    this.#value = undefined;
    this.#hasFormula = false;
    if (cell === undefined) return;
    if (typeof cell === 'string') this.#characters += cell.length;
    if (this.#characters > MAX_CHARACTERS) throw this.#unreadable(`a row of more than ${MAX_CHARACTERS} characters`);
    while (this.#cells.length < this.#column) this.#cells.push(undefined);
    this.#cells[this.#column] = cell;
  }

  #cell(type: string, format: CellFormat): Cell | undefined {
    const value = this.#value ?? '';
    const text = value.trim();
    if (text === '') {
      // A text formula may have an empty result; any other without one was never calculated.
      const isCalculated = !this.#hasFormula || (type === 'str' && this.#value !== undefined);
      return isCalculated ? undefined : broken('is a formula without a stored result: open and save the file first');
    }
    const { strings, date1904 } = this.#context;
    switch (type) {
      case 's':
        return (
          (INDEX.test(value) ? strings[Number(value)] : undefined) ?? broken('refers to a text that is not in the file')
        );
      case 'inlineStr':
        return value;
      case 'str':
        return unescapeText(value);
      case 'b':
        return BOOLEANS.get(text) ?? broken('is neither true nor false');
      case 'e':
        return broken(`holds an error${ERROR_VALUE.test(value) ? ` (${value})` : ''}`);
      case 'd': {
        // A day, with a time or without; a moment with an offset is its day in the Netherlands.
        const found = isDay(text) ? { day: text } : dayOfMoment(text);
        return found === undefined ? broken('is a date that cannot be read') : { kind: 'date', ...found };
      }
      default:
        return numberCell(NUMBER.test(text) ? Number(text) : Number.NaN, format, date1904);
    }
  }

  #unreadable(message: string): UnreadableTable {
    return new UnreadableTable(message, { row: this.#row });
  }
}

function numberCell(value: number, format: CellFormat, date1904: boolean): Cell {
  if (!Number.isFinite(value)) return broken('is a number that cannot be read');
  if (format === 'date') {
    const found = serialDate(value, date1904);
    return found === undefined ? broken('has the format of a date but is not one') : { kind: 'date', ...found };
  }
  const isPadded = format !== undefined && Number.isInteger(value) && value >= 0;
  return { kind: 'number', value, shown: isPadded ? String(value).padStart(format.digits, '0') : undefined };
}

function broken(message: string): Cell {
  return { kind: 'broken', message };
}

/** The place of a cell: row from 1, column from 0. @returns `undefined` when the reference is not that of a cell */
function cellPlace(reference: string): { readonly row: number; readonly column: number } | undefined {
  const [, letters, digits] = /^([A-Z]{1,3})([1-9]\d{0,6})$/.exec(reference) ?? [];
  if (letters === undefined || digits === undefined) return undefined;
  let column = 0;
  for (const letter of letters) column = column * 26 + letter.charCodeAt(0) - 64;
  const row = Number(digits);
  return column > MAX_COLUMNS || row > MAX_ROWS ? undefined : { row, column: column - 1 };
}

interface Area {
  readonly top: number;
  readonly bottom: number;
  readonly column: number;
}

/**
 * The merged cells of a sheet. The value in the first cell counts for every row of the area, in its first column: a name beside several debts belongs
 * to each of them, but a title over several columns to none of the others.
 */
class MergedAreas {
  readonly #areas: ReadonlyMap<number, readonly Area[]>;
  #open: { readonly bottom: number; readonly column: number; readonly value: Cell | undefined }[] = [];

  constructor(areas: readonly Area[]) {
    this.#areas = Map.groupBy(areas, ({ top }) => top);
  }

  /** Fills the merged cells of a row, row after row. A row with nothing else in it stays empty. */
  fill(row: number, cells: (Cell | undefined)[]): void {
    this.#open = this.#open.filter(({ bottom }) => bottom >= row);
    if (this.#open.length > 0 && cells.some((cell) => cell !== undefined)) {
      for (const { column, value } of this.#open) {
        while (cells.length <= column) cells.push(undefined);
        cells[column] ??= value;
      }
    }
    for (const { bottom, column } of this.#areas.get(row) ?? [])
      this.#open.push({ bottom, column, value: cells[column] });
  }
}

/** Finds the merged areas of a sheet. They follow its rows, so a sheet with any is read twice. @param read gives the bytes of the sheet */
export async function findMergedAreas(read: () => AsyncIterable<Buffer>, part: string): Promise<MergedAreas> {
  const areas: Area[] = [];
  if (!(await mentions(read(), Buffer.from('mergeCell')))) return new MergedAreas(areas);
  await readWholeXml(read(), part, ({ name, attributes: { ref = '' } }) => {
    // An area of a single cell merges nothing.
    if (name !== 'mergeCell' || !ref.includes(':')) return;
    const [from, to] = ref.split(':').map(cellPlace);
    if (from === undefined || to === undefined) throw new UnreadableTable('merged cells without a valid place');
    if (to.row > from.row) areas.push({ top: from.row, bottom: to.row, column: from.column });
    if (areas.length > MAX_AREAS) throw new UnreadableTable(`more than ${MAX_AREAS} merged cells`);
  });
  return new MergedAreas(areas);
}

async function mentions(source: AsyncIterable<Buffer>, word: Buffer): Promise<boolean> {
  let rest = Buffer.alloc(0);
  for await (const chunk of source) {
    const joined = Buffer.concat([rest, chunk]);
    if (joined.includes(word)) return true;
    rest = joined.subarray(-word.length);
  }
  return false;
}
