import { amsterdamDay, fromAmsterdam } from './amsterdam.ts';

/** A time of the supplier. */
export interface Moment {
  /** RFC 3339 in UTC; absent when only a day was given. */
  readonly utc?: string;
  /** The Dutch day, `YYYY-MM-DD`. */
  readonly day: string;
  /** What is odd about it. */
  readonly doubt?: string;
}

export type MomentReading = { readonly moment?: Moment; readonly fault?: string };

const FORM = /^(\d{4})-(\d{2})-(\d{2})(?:[T ](\d{2}):(\d{2})(?::(\d{2})(?:[.,]\d{1,9})?)?\s*(Z|[+-]\d{2}:?\d{2})?)?$/i;

/**
 * Reads a time as NotuBiz writes them: with an offset, or bare, and then it is Dutch local time. Empty, zero and impossible
 * dates are absent ones; anything else is a fault.
 */
export function readMoment(value: unknown): MomentReading {
  if (value === null || value === undefined) return {};
  if (typeof value !== 'string') return { fault: `a time was expected, not ${typeof value}` };
  const text = value.trim();
  if (text === '') return {};
  const found = FORM.exec(text);
  if (found === null) return { fault: `not a time: ${JSON.stringify(text.slice(0, 40))}` };
  const [, year, month, day, hour, minute, second, offset] = found;
  const local = possibleTime([year, month, day, hour ?? '0', minute ?? '0', second ?? '0'].map(Number));
  if (local === undefined) return {};
  if (hour === undefined) return { moment: { day: text } };
  if (offset !== undefined) {
    const instant = local - offsetMilliseconds(offset);
    return { moment: { utc: toUtc(instant), day: amsterdamDay(instant) } };
  }
  const { instant, existed } = fromAmsterdam(local);
  const moment = { utc: toUtc(instant), day: text.slice(0, 10) };
  return { moment: existed ? moment : { ...moment, doubt: `${text} did not exist: the clock skipped that hour` } };
}

/** The time as if it were UTC, or `undefined` when no calendar or clock has it. */
function possibleTime(numbers: readonly number[]): number | undefined {
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = numbers;
  if (year < 1900 || hour > 23 || minute > 59 || second > 59) return undefined;
  const time = new Date(Date.UTC(year, month - 1, day, hour, minute, second));
  return time.getUTCMonth() === month - 1 && time.getUTCDate() === day ? time.getTime() : undefined;
}

function offsetMilliseconds(offset: string): number {
  if (offset.toUpperCase() === 'Z') return 0;
  const digits = offset.replace(':', '');
  const minutes = Number(digits.slice(1, 3)) * 60 + Number(digits.slice(3, 5));
  return (digits.startsWith('-') ? -minutes : minutes) * 60_000;
}

function toUtc(instant: number): string {
  return `${new Date(instant).toISOString().slice(0, 19)}Z`;
}
