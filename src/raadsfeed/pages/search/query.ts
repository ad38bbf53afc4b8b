/** Parses search text into terms; `words.ts` turns them into words of the index. */
import { DATE, readDate } from './dates.ts';

/** A word, a phrase in quotes, or a day or month as people write it. */
export interface Term {
  /** As typed, without the quotes and the `-`. */
  readonly text: string;
  readonly kind: 'word' | 'phrase' | 'date';
  readonly isExcluded: boolean;
}

export interface SearchQuery {
  /** One of these must match with all of its terms; people write `OR` between them. */
  readonly groups: readonly (readonly Term[])[];
  /** Some of the typed terms are not searched for. */
  readonly isCut: boolean;
}

/** Longest query in characters, and most terms of it. */
export const QUERY_LENGTH = 200;
export const MOST_TERMS = 12;

const TERM = new RegExp(String.raw`(?<=^|\s)(-?)(?:(${DATE})(?=\s|$)|["“”„]([^"“”„]*)["“”„]?|(\S+))`, 'giu');

/** Reads search text. @returns `undefined` without a required term */
export function readQuery(typed: string): SearchQuery | undefined {
  const text = typed.slice(0, QUERY_LENGTH).toWellFormed().replaceAll('\0', ' ');
  const groups: Term[][] = [[]];
  let count = 0;
  for (const [, not = '', date, phrase, word = ''] of text.matchAll(TERM)) {
    if (date === undefined && phrase === undefined && /^or$/i.test(not + word)) {
      groups.push([]);
      continue;
    }
    const value = date ?? phrase ?? word;
    if (!/[\p{L}\p{N}]/u.test(value)) continue;
    count += 1;
    if (count > MOST_TERMS) continue;
    const kind = date !== undefined && readDate(date) ? 'date' : phrase === undefined ? 'word' : 'phrase';
    groups.at(-1)?.push({ text: value, kind, isExcluded: not !== '' });
  }
  const asked = groups.filter((terms) => terms.some(({ isExcluded }) => !isExcluded));
  return asked.length === 0 ? undefined : { groups: asked, isCut: count > MOST_TERMS };
}
