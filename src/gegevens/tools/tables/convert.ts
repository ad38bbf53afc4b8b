/** Converts the values of cells, as people and spreadsheets write them. */
import { dutchDay, dutchDayAt, isDay } from '../../../lib/time.ts';
import type { ValueType } from '../model-shape.ts';
import type { FromColumn, MappingContent, Scalar } from './mapping-file.ts';
import { type Cell, cellText, REPLACEMENT } from './table-file.ts';
import { CellFault, readFixedNumber, readPostcode, type TargetForm } from './target-form.ts';

/** A pattern for the whole text; `undefined` when it is not a regular expression. */
export function readPattern(pattern: string): RegExp | undefined {
  try {
    return new RegExp(`^(?:${pattern})$`, 'iu');
  } catch {
    return undefined;
  }
}

/** A value of a record, several for a split cell, or `null` for an empty cell. */
export type Converted = Scalar | readonly Scalar[] | null;

export type Note = (message: string) => void;

/** Converts a cell into the value of a member. */
export type Convert = (cell: Cell | undefined, note?: Note) => Converted | CellFault;

const ignore: Note = () => undefined;
export const MOMENTS = 'has moments with an offset from UTC: each is read as its day in Europe/Amsterdam';

const TRUE = ['ja', 'j', 'waar', 'true', '1', 'x'];
const FALSE = ['nee', 'n', 'onwaar', 'false', '0'];
const DATES = ['yyyy-MM-dd', 'd-M-yyyy'];
/** As many characters as a spreadsheet allows in a cell. */
const MAX_CELL_LENGTH = 32_767;

interface ConvertOptions {
  readonly source: FromColumn;
  readonly type: ValueType;
  readonly form?: TargetForm | undefined;
  readonly defaults: Pick<MappingContent, 'empty' | 'dates' | 'decimal' | 'true' | 'false'>;
  readonly date1904: boolean;
}

/** @throws {RangeError} naming an unusable date form or pattern */
export function createConvert(options: ConvertOptions): Convert {
  const { source, form, defaults } = options;
  const { values, other = 'fault', digits, split, part } = source;
  const removed = new Set(source.remove ?? '');
  const pattern = source.pattern === undefined ? undefined : readPattern(source.pattern);
  if (source.pattern !== undefined && pattern === undefined)
    throw new RangeError('the pattern is not a regular expression');
  const empty = new Set((defaults.empty ?? []).map(fold));
  const map = values && new Map(Object.entries(values).map(([text, value]) => [fold(text), value]));
  const read = readerOf(options);

  const one = (given: Cell, note: Note): Scalar | null | CellFault => {
    const whole = removed.size === 0 ? given : without(cellText(given) ?? '', removed);
    const all = cellText(whole) ?? '';
    if (all === '') return null;
    const match = pattern?.exec(all);
    if (match === null && other === 'fault')
      return new CellFault('does not fit the pattern of the mapping', all, 'widen `pattern`, or set `other: keep`');
    const cell = match ? groupsOf(match) : whole;
    const text = cellText(cell) ?? '';
    const mapped = map?.get(fold(text));
    if (mapped !== undefined) return mapped;
    if (map !== undefined && other === 'fault') {
      const remedy = 'add them to `values`, or set `other: keep`';
      return new CellFault('is not among the values that the mapping knows', text, remedy);
    }
    if (digits === undefined || form?.kind === 'number') return read(cell, note);
    if (/^\d+$/.test(text) && text.length <= digits) return read(text.padStart(digits, '0'), note);
    const remedy = 'a `pattern` takes the digits out of a longer text';
    return new CellFault(`is not a number of at most ${digits} digits`, text, remedy);
  };

  return (cell, note = ignore) => {
    if (typeof cell === 'object' && cell.kind === 'broken') return new CellFault(cell.message);
    const text = cellText(cell) ?? '';
    if (text === '' || empty.has(fold(text))) return null;
    if (text.length > MAX_CELL_LENGTH) return new CellFault(`has more than ${MAX_CELL_LENGTH} characters`);
    if (text.includes(REPLACEMENT)) return new CellFault('has a character that was lost before (U+FFFD)');
    if (split === undefined || cell === undefined) return one(cell ?? text, note);
    const parts = text.split(split).map((piece) => piece.trim());
    if (part === undefined) {
      const converted = parts.filter((piece) => piece !== '').map((piece) => one(piece, note));
      const fault = converted.find((value) => value instanceof CellFault);
      return fault ?? converted.flatMap((value) => (value === null || value instanceof CellFault ? [] : [value]));
    }
    const from = Number.parseInt(String(part), 10) - 1;
    const taken = typeof part === 'number' ? (parts[from] ?? '') : parts.slice(from).join(split).trim();
    return taken === '' ? null : one(taken, note);
  };
}

function without(text: string, removed: ReadonlySet<string>): string {
  return [...text]
    .filter((sign) => !removed.has(sign))
    .join('')
    .trim();
}

/** The contents of a pattern's groups, joined; the whole text without groups. */
function groupsOf([whole, ...groups]: RegExpExecArray): string {
  const held = groups.filter((group) => group !== undefined);
  return held.length === 0 ? whole : held.join('');
}

export function fold(text: string): string {
  return text.trim().toLowerCase();
}

type Read = (cell: Cell, note: Note) => Scalar | CellFault;

function readerOf({ type, form, source, defaults, date1904 }: ConvertOptions): Read {
  const dates = source.dates ?? defaults.dates ?? DATES;
  switch (type) {
    case 'boolean':
      return booleanReader(defaults.true ?? TRUE, defaults.false ?? FALSE);
    case 'date':
      return dateReader(dates, date1904);
    case 'integer':
    case 'number':
      return numberReader(source.decimal ?? defaults.decimal ?? ',', type);
    case 'text':
      return textReader(form, source.digits, dateReader(dates, date1904));
  }
}

function textReader(form: TargetForm | undefined, digits: number | undefined, readDate: Read): Read {
  switch (form?.kind) {
    case 'number':
      return (cell) => readFixedNumber(cell, form, digits);
    case 'postcode':
      return readPostcode;
    case 'birth':
      return (cell, note) => {
        const text = cellText(cell) ?? '';
        const day = typeof cell === 'object' && cell.kind === 'number' ? text : readDate(cell, note);
        return day instanceof CellFault ? text : day;
      };
    default:
      return (cell) => cellText(cell) ?? '';
  }
}

function booleanReader(yes: readonly string[], no: readonly string[]): Read {
  const words = new Map([
    ...no.map((text) => [fold(text), false] as const),
    ...yes.map((text) => [fold(text), true] as const),
  ]);
  return (cell) => {
    if (typeof cell === 'boolean') return cell;
    const text = cellText(cell) ?? '';
    const remedy = 'name the words in `true` and `false`';
    return words.get(fold(text)) ?? new CellFault(`is not one of ${[...yes, ...no].join(', ')}`, text, remedy);
  };
}

function dateReader(forms: readonly string[], date1904: boolean): Read {
  const readers = forms.map((form) => {
    const reader = dateForm(form, date1904);
    if (reader === undefined) throw new RangeError(`${JSON.stringify(form)} is not a form of dates`);
    return reader;
  });
  const find = (cell: Cell): FoundDay | undefined => {
    if (typeof cell === 'object' && cell.kind === 'date') return cell;
    // A spreadsheet's number without the format of a date: the column was imported, or formatted as text or number.
    const serial = typeof cell === 'object' && cell.kind === 'number' ? serialDate(cell.value, date1904) : undefined;
    if (serial !== undefined) return serial;
    const text = cellText(cell) ?? '';
    return readers.map((read) => read(text)).find((day) => day !== undefined);
  };
  return (cell, note) => {
    const found = find(cell);
    if (found?.hasOffset === true) note(MOMENTS);
    if (found !== undefined) return found.day;
    const text = cellText(cell) ?? '';
    const remedy = /^\d{5}([.,]\d+)?$/.test(text)
      ? 'these look like the day numbers of a spreadsheet: add `serial` to `dates`'
      : 'add their format to `dates`';
    return new CellFault(`is not a date of the form ${forms.join(', ')}`, text, remedy);
  };
}

function numberReader(decimal: ',' | '.', type: 'integer' | 'number'): Read {
  const thousands = decimal === ',' ? '\\.' : ',';
  // Either no grouping at all, or groups of three: `1.5` is not read as 15.
  const pattern = new RegExp(`^([+-]?)(\\d{1,3}(?:${thousands}\\d{3})+|\\d+)(?:\\${decimal}(-|\\d*))?(-?)$`);
  const find = (cell: Cell): number | undefined => {
    if (typeof cell === 'object' && cell.kind === 'number') return cell.value;
    const match = pattern.exec((cellText(cell) ?? '').replaceAll(/[\s€]|EUR/g, ''));
    if (match === null) return undefined;
    const [, sign = '', whole = '', decimals = '', after = ''] = match;
    // Cents have two digits: `1,234` is most probably a thousand, written by a foreign program.
    if (type === 'integer' && decimals.length > 2) return undefined;
    const value = Number(`${whole.replaceAll(/[.,]/g, '')}.${/^\d/.test(decimals) ? decimals : '0'}`);
    return sign === '-' || after === '-' ? -value : value;
  };
  return (cell) => {
    const value = find(cell);
    if (value === undefined) {
      const message = `is not a number with ${decimal === ',' ? 'a comma' : 'a point'} before its decimals`;
      return new CellFault(message, cellText(cell) ?? '', '`decimal` says which sign is before the decimals');
    }
    if (type === 'number') return value;
    // Rounds halves away from zero. Decimals of euros are not exact in binary: 2.4999999999999996 is two and a half.
    const whole = Math.floor(Math.abs(value) + 0.5 + 1e-9);
    if (!Number.isSafeInteger(whole)) return new CellFault('is too large a number');
    return value < 0 && whole > 0 ? -whole : whole;
  };
}

const MONTHS = Array.from({ length: 12 }, (_, month) =>
  new Date(Date.UTC(2000, month)).toLocaleString('nl', { month: 'long', timeZone: 'UTC' }),
);
/** Beside the first three letters of the name. */
const OTHER_SHORT: Readonly<Record<string, number>> = { mrt: 3, sept: 9 };
const TOKEN = /yyyy|MMMM|MMM|MM|M|dd|d/g;
const PATTERNS: Readonly<Record<string, string>> = {
  // No year of the first century: a year of two digits was meant.
  yyyy: '(?<year>(?!00)\\d{4})',
  MMMM: '(?<name>[a-zA-Z]+)',
  MMM: '(?<name>[a-zA-Z]{3,4})\\.?',
  MM: '(?<month>\\d{2})',
  M: '(?<month>\\d{1,2})',
  dd: '(?<day>\\d{2})',
  d: '(?<day>\\d{1,2})',
};
/** The time that may follow a date. */
const TIME =
  '(?:[T ]+(?<time>\\d{1,2}:\\d{2}(?::\\d{2}(?:[.,]\\d{1,9})?)?)(?: ?(?<offset>Z|UTC|GMT|[+-]\\d{2}(?::?\\d{2})?))?)?';

/** `YYYY-MM-DD`; with an offset: the day in the Netherlands of a moment. */
interface FoundDay {
  readonly day: string;
  readonly hasOffset?: boolean;
}

/** A reader of texts of a form. @returns `undefined` when the form lacks a day, month or year, or has one twice */
export function dateForm(form: string, date1904: boolean): ((text: string) => FoundDay | undefined) | undefined {
  if (form === 'serial')
    return (text) =>
      /^\d{1,7}(?:[.,]\d+)?$/.test(text) ? serialDate(Number(text.replace(',', '.')), date1904) : undefined;
  const tokens = form.match(TOKEN) ?? [];
  const has = (letter: string): number => tokens.filter((token) => token.startsWith(letter)).length;
  if (has('y') !== 1 || has('M') !== 1 || has('d') !== 1 || /[a-zA-Z]/.test(form.replaceAll(TOKEN, '')))
    return undefined;
  const escaped = form.replaceAll(/[\\^$.*+?()[\]{}|/]/g, '\\$&');
  const pattern = new RegExp(`^${escaped.replaceAll(TOKEN, (token) => PATTERNS[token] ?? token)}${TIME}$`);
  return (text) => {
    const { year = '', month, name = '', day = '', time, offset } = pattern.exec(text)?.groups ?? {};
    const written = [year, month ?? monthNumber(name), day].map((part) => String(part).padStart(2, '0')).join('-');
    if (!isDay(written)) return undefined;
    if (time === undefined || offset === undefined) return { day: written };
    const dutch = dutchDayAt(written, time, offset);
    return dutch === undefined ? undefined : { day: dutch, hasOffset: true };
  };
}

function monthNumber(name: string): number {
  const lower = name.toLowerCase();
  const index = MONTHS.findIndex((month) => month === lower || month.slice(0, 3) === lower);
  return OTHER_SHORT[lower] ?? index + 1;
}

const DAY_SECONDS = 86_400;
/** 31 December 9999 in the 1900 system. */
const LAST_SERIAL = 2_958_465;
/** Days from the 1900 system to the 1904 system. */
const SHIFT_1904 = 1462;

/**
 * The day of a spreadsheet's number that is shown as a date. Programs in JavaScript write Dutch midnight in UTC, as 22:00 or 23:00 of the day before:
 * such a number is a moment. The 1900 system counts a 29 February 1900 that never was.
 */
export function serialDate(serial: number, date1904: boolean): FoundDay | undefined {
  // The fraction is the time; half a second allows for its rounding.
  const days = Math.floor(serial + 0.5 / DAY_SECONDS) + (date1904 ? SHIFT_1904 : 0);
  if (!Number.isFinite(days) || days < 1 || days === 60 || days > LAST_SERIAL) return undefined;
  const midnight = Date.UTC(1899, 11, (days < 60 ? 31 : 30) + days);
  const day = new Date(midnight).toISOString().slice(0, 10);
  const seconds = Math.round(serial * DAY_SECONDS) % DAY_SECONDS;
  if (seconds === 0) return { day };
  const moment = midnight + seconds * 1000;
  const dutch = dutchDay(new Date(moment));
  return dutch === dutchDay(new Date(moment - 1000)) ? { day } : { day: dutch, hasOffset: true };
}
