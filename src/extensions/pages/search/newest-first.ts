/**
 * In which order the days of a search are looked at. The index has the month and the year of a row as words, so a common word is looked for in
 * the newest months only, which gives the newest results as surely as looking at everything: what is newer than their beginning is all in them.
 */

/** How many months the first step looks back; in one organisation, which has a part of it all. */
export const FIRST_MONTHS = 2;
export const FIRST_MONTHS_OF_ONE = 24;
/** Months that a feed may have; who looks that far back looks at everything. */
const HISTORY_MONTHS = 180;
/** Fewer rows than this in a step say little about older months: the next one looks at most so many times as far back. */
const TRUSTED = 20;
const GROWTH = 20;
/** A step aims at so many times the results that are shown, so that it is probably the last one. */
const MARGIN = 1.3;
/** Years after this one that something may be planned in. */
const YEARS_AHEAD = 3;
/** Years that are named one by one; with more they do not help. */
const MOST_YEARS = 20;

/** Days of a search: the first and the last, as `2018-02-08`. */
interface Days {
  readonly from?: string | undefined;
  readonly to?: string | undefined;
}

/** Whether all months would probably not have twice as many results as are shown. */
export function isFew(months: number, found: number, most: number): boolean {
  return (found * HISTORY_MONTHS) / months < 2 * most;
}

/** How many months would have the results that are shown, from how many there are in the newest ones. */
export function monthsOfResults(months: number, found: number, most: number): number {
  return Math.max(months + 1, Math.ceil(months * growth(found, MARGIN * most)));
}

/** In how many months there would be as many rows to read as are read at most, from how many there are in the newest ones. */
export function monthsToRead(months: number, read: number, most: number): number {
  return Math.floor(months * growth(read, most));
}

function growth(seen: number, most: number): number {
  return seen < TRUSTED ? Math.min(GROWTH, most / seen) : most / seen;
}

export interface DaysBack {
  /** Months back from which on it is everything. */
  readonly most: number;
  /** All months of the search in the form of a tsquery; empty when they would not help. */
  readonly all: string;
  /** The newest so many months and what is planned, as alternatives in the form of a tsquery. */
  readonly newest: (months: number) => string;
  /** The first of the newest so many months, as `2018-02`. */
  readonly first: (months: number) => string;
}

/** Counts back from the last day that is asked for, else from now. */
export function daysBack(days: Days, now: Date): DaysBack {
  const { first, last } = monthsOf(days);
  const ahead = 12 * (now.getUTCFullYear() + YEARS_AHEAD) + 11;
  const newest = Math.min(last ?? ahead, ahead);
  const anchor = Math.min(newest, monthOf(now));
  return {
    most: first === undefined ? HISTORY_MONTHS : Math.min(HISTORY_MONTHS, anchor - first + 1),
    all: allDays(days),
    newest: (months) => lexemesOf(anchor - months + 1, newest),
    first: (months) =>
      new Date(Date.UTC(Math.floor((anchor - months + 1) / 12), (anchor - months + 1) % 12)).toISOString().slice(0, 7),
  };
}

/** All months of the days, in the form of a tsquery; empty when they would not help. */
function allDays(days: Days): string {
  const { first, last } = monthsOf(days);
  if (first === undefined || last === undefined || last < first || last - first > 12 * MOST_YEARS) return '';
  return lexemesOf(first, last);
}

/** A day in Amsterdam may be the day before in UTC. */
function monthsOf({ from, to }: Days): { readonly first: number | undefined; readonly last: number | undefined } {
  return {
    first: from === undefined ? undefined : monthOf(new Date(Date.parse(from) - 86_400_000)),
    last: to === undefined ? undefined : monthOf(new Date(to)),
  };
}

/** Months since year 0. */
const monthOf = (date: Date): number => 12 * date.getUTCFullYear() + date.getUTCMonth();

/** Whole years where they fit, else months. */
function lexemesOf(first: number, last: number): string {
  const lexemes: string[] = [];
  for (let month = first; month <= last; ) {
    const year = Math.floor(month / 12);
    const isYear = month % 12 === 0 && month + 11 <= last;
    lexemes.push(isYear ? `'_${year}'` : `'_${year}${String(1 + (month % 12)).padStart(2, '0')}'`);
    month += isYear ? 12 : 1;
  }
  return lexemes.join(' | ');
}
