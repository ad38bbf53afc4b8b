/** Words and days in the form of the index, so that what people type and what texts say match. */
import { isDay } from '../../../lib/time.ts';

/** Letters that do not decompose into a letter with a mark. */
const LETTERS: Readonly<Record<string, string>> = {
  ı: 'i',
  ø: 'o',
  ł: 'l',
  đ: 'd',
  ð: 'd',
  ħ: 'h',
  ŧ: 't',
  ß: 'ss',
  æ: 'ae',
  œ: 'oe',
  þ: 'th',
};

/** Lower-case letters without marks, and digits; words with one blank between them. Words are cut off after 60 characters. */
export function fold(text: string): string {
  return text
    .toWellFormed()
    .normalize('NFKD')
    .toLowerCase()
    .replace(/\p{M}/gu, '')
    .replace(/[ıøłđðħŧßæœþ]/g, (letter) => LETTERS[letter] ?? letter)
    .replace(/(?<=\p{L})['’](?=\p{L})/gu, '')
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .replace(/(\S{60})\S+/gu, '$1')
    .trim();
}

const MONTHS = 'januari februari maart april mei juni juli augustus september oktober november december'.split(' ');
const SHORT_MONTHS = 'jan feb mrt apr mei jun jul aug sep okt nov dec'.split(' ');
const MONTH = [...MONTHS, ...SHORT_MONTHS, 'sept'].join('|');
const WEEKDAY = '(?:(?:maan|dins|woens|donder|vrij|zater|zon)dag\\s+)?';
const YEAR = '(?:18|19|20|21)\\d\\d';

/** Source of a regular expression, without capturing groups. */
export const DATE = String.raw`${WEEKDAY}\d{1,2}\s+(?:${MONTH})\b\.?(?:\s+${YEAR})?|(?:${MONTH})\b\.?\s+${YEAR}|\d{1,2}(?:-\d{1,2}-|/\d{1,2}/|\.\d{1,2}\.)${YEAR}|${YEAR}-\d\d-\d\d`;
const DATES = new RegExp(String.raw`(?<![\p{L}\p{N}])(?:${DATE})(?![\p{L}\p{N}])`, 'giu');

/** @returns its form in the index: `20260312`, `202603` or, without a year, `0312`; `undefined` for a day that does not exist */
export function readDate(text: string): string | undefined {
  const parts = text
    .toLowerCase()
    .split(/[-/.\s]+/)
    .filter((part) => part !== '' && !part.endsWith('dag'));
  const numbers = parts.map((part) => {
    const at = Math.max(MONTHS.indexOf(part), SHORT_MONTHS.indexOf(part === 'sept' ? 'sep' : part));
    return (at >= 0 ? String(at + 1) : part).padStart(2, '0');
  });
  const [first = '', second = '', third] = numbers;
  if (third === undefined && second.length === 4) return `${second}${first}`;
  const [year, month, day] = first.length === 4 ? [first, second, third] : [third, second, first];
  // Without a year, in one that has 29 February.
  const date = `${year ?? '2024'}-${month}-${day}`;
  return isDay(date) ? `${year ?? ''}${month}${day}` : undefined;
}

/** The days in a text, in the forms of the index: each also as that day of any year, and its month. */
export function datesIn(text: string): string[] {
  const found = [...text.matchAll(DATES)].flatMap(([date]) => readDate(date) ?? []);
  return [...new Set(found.flatMap((date) => (date.length === 8 ? [date, date.slice(4), date.slice(0, 6)] : [date])))];
}
