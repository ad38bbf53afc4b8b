/**
 * In which order the days of a search are looked at. The index has the month and the year of a row as words, so a common word is looked for in
 * the newest months only, which gives the newest results as surely as looking at everything: what is newer than their beginning is all in them.
 */

/** How many months back the steps go, before everything. */
const STEPS = [2, 9, 36] as const;
/** Years after this one that something may be planned in. */
const YEARS_AHEAD = 3;
/** Years that are named one by one; with more they do not help. */
const MOST_YEARS = 20;
/** What a step is judged by: how many results so many months would have. */
const HISTORY_MONTHS = 180;

/** Days of a search: the first and the last, as `2018-02-08`. */
interface Days {
  readonly from?: string | undefined;
  readonly to?: string | undefined;
}

export interface Period {
  /** The months and years, as alternatives in the form of a tsquery. */
  readonly lexemes: string;
  /** Whether the steps between can be left out, because all there are will be few anyway. */
  readonly isFew: (found: number, most: number) => boolean;
}

/** Periods from the newest on; after them comes the rest. */
export function newestFirst(days: Days, now: Date): Period[] {
  const { first, last } = monthsOf(days);
  const ahead = 12 * (now.getUTCFullYear() + YEARS_AHEAD) + 11;
  const newest = Math.min(last ?? ahead, ahead);
  const anchor = Math.min(newest, monthOf(now));
  return STEPS.filter((back) => first === undefined || anchor - back >= first).map((back) => ({
    lexemes: lexemesOf(anchor - back + 1, newest),
    isFew: (found, most) => (found * HISTORY_MONTHS) / back < 2 * most,
  }));
}

/** All months of the days, in the form of a tsquery; empty when they would not help. */
export function allDays(days: Days): string {
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
