/** Dates as people and spreadsheets write them. */

const MONTHS = [
  'januari',
  'februari',
  'maart',
  'april',
  'mei',
  'juni',
  'juli',
  'augustus',
  'september',
  'oktober',
  'november',
  'december',
];
/** Beside the first three letters of the name. */
const OTHER_SHORT: Readonly<Record<string, number>> = { mrt: 3 };
const TOKEN = /yyyy|MMMM|MMM|MM|M|dd|d/g;
const PATTERNS: Readonly<Record<string, string>> = {
  yyyy: '(?<year>\\d{4})',
  MMMM: '(?<name>[a-zA-Z]+)',
  MMM: '(?<name>[a-zA-Z]{3,4})\\.?',
  MM: '(?<month>\\d{2})',
  M: '(?<month>\\d{1,2})',
  dd: '(?<day>\\d{2})',
  d: '(?<day>\\d{1,2})',
};
/** What may follow a date: its time. */
const TIME = '(?:[T ]+\\d{1,2}:\\d{2}(?::\\d{2}(?:[.,]\\d{1,9})?)?(?:Z|[+-]\\d{2}:?\\d{2})?)?';

/** Reads a text as a day: `YYYY-MM-DD`, or `undefined` when it is none of that form. */
export type DateForm = (text: string) => string | undefined;

/** @returns `undefined` when the form lacks a day, month or year, or has one twice */
export function dateForm(form: string, date1904: boolean): DateForm | undefined {
  if (form === 'serial') {
    return (text) =>
      /^\d{1,7}(?:[.,]\d+)?$/.test(text) ? serialDay(Number(text.replace(',', '.')), date1904) : undefined;
  }
  const tokens = form.match(TOKEN) ?? [];
  const has = (letter: string): number => tokens.filter((token) => token.startsWith(letter)).length;
  if (has('y') !== 1 || has('M') !== 1 || has('d') !== 1 || /[a-zA-Z]/.test(form.replaceAll(TOKEN, '')))
    return undefined;
  const source = form
    .split(/(yyyy|MMMM|MMM|MM|M|dd|d)/)
    .map((piece) => PATTERNS[piece] ?? piece.replaceAll(/[\\^$.*+?()[\]{}|/]/g, '\\$&'))
    .join('');
  const pattern = new RegExp(`^${source}${TIME}$`);
  return (text) => {
    const groups = pattern.exec(text)?.groups;
    if (groups === undefined) return undefined;
    const month = groups.name === undefined ? Number(groups.month) : monthNumber(groups.name);
    return existingDay(Number(groups.year), month, Number(groups.day));
  };
}

function monthNumber(name: string): number {
  const lower = name.toLowerCase();
  const index = MONTHS.findIndex((month) => month === lower || month.slice(0, 3) === lower);
  return OTHER_SHORT[lower] ?? (lower === 'sept' ? 9 : index + 1);
}

const MONTH_DAYS = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

/** `YYYY-MM-DD`, or `undefined` when the calendar has no such day. */
function existingDay(year: number, month: number, day: number): string | undefined {
  const isLeap = (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0;
  const days = month === 2 && isLeap ? 29 : (MONTH_DAYS[month - 1] ?? 0);
  if (year < 1 || day < 1 || day > days) return undefined;
  return `${String(year).padStart(4, '0')}-${String(month).padStart(2, '0')}-${String(day).padStart(2, '0')}`;
}

const DAY_MS = 86_400_000;
const HALF_SECOND = 0.5 / 86_400;
/** 31 December 9999 in the 1900 system. */
const LAST_SERIAL = 2_958_465;
/** Days from the 1900 system to the 1904 system. */
const SHIFT_1904 = 1462;

/**
 * The day that a spreadsheet's number stands for. The 1900 system counts a 29 February 1900 that never was.
 * @returns `undefined` for a number that stands for no day
 */
export function serialDay(serial: number, date1904: boolean): string | undefined {
  if (!Number.isFinite(serial)) return undefined;
  // The fraction is the time; half a second allows for its rounding.
  const days = Math.floor(serial + HALF_SECOND) + (date1904 ? SHIFT_1904 : 0);
  if (days < 1 || days === 60 || days > LAST_SERIAL) return undefined;
  return new Date(Date.UTC(1899, 11, days < 60 ? 31 : 30) + days * DAY_MS).toISOString().slice(0, 10);
}
