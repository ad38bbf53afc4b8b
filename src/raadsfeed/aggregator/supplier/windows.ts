import { dayAfter } from '../../../lib/time.ts';
import type { DateWindow } from './source-adapter.ts';

const DAY = 86_400_000;

/** `undefined` for a single day. */
export function halves({ from, to }: DateWindow): readonly [DateWindow, DateWindow] | undefined {
  const days = (Date.parse(to) - Date.parse(from)) / DAY + 1;
  if (days < 2) return undefined;
  const middle = dayAfter(from, Math.floor(days / 2));
  return [
    { from, to: dayAfter(middle, -1) },
    { from: middle, to },
  ];
}

/** Days (`YYYY-MM-DD`) chosen by an operator; absent: all. */
export interface Period {
  readonly from?: string | undefined;
  readonly to?: string | undefined;
}

/** The quarters in a chosen period, or all windows without one. @param all the windows of the source, oldest first */
export function periodWindows(all: readonly DateWindow[], { from, to }: Period): readonly DateWindow[] {
  if (from === undefined && to === undefined) return all;
  const days = all.filter((window) => !isRegisters(window));
  const [first, last] = [days[0], days.at(-1)];
  if (first === undefined || last === undefined) return [];
  return quarters({ from: latest(from, first.from), to: earliest(to, last.to) });
}

function latest(day: string | undefined, other: string): string {
  return day !== undefined && day > other ? day : other;
}

function earliest(day: string | undefined, other: string): string {
  return day !== undefined && day < other ? day : other;
}

/** Oldest first; the first and last are cut off at the ends. */
export function quarters({ from, to }: DateWindow): readonly DateWindow[] {
  const found: DateWindow[] = [];
  for (let start = from; start <= to; ) {
    const end = quarterEnd(start);
    found.push({ from: start, to: earliest(to, end) });
    start = dayAfter(end);
  }
  return found;
}

/** A day without meetings stands for the registers, which are read whole. */
export const REGISTERS: DateWindow = { from: '0001-01-01', to: '0001-01-01' };

export function isRegisters({ from }: DateWindow): boolean {
  return from === REGISTERS.from;
}

/** Of a period without an end. */
export const LAST_DAY = '9999-12-31';

export function periodOf({ from, to }: Partial<DateWindow> = {}): DateWindow {
  return { from: from ?? '1000-01-01', to: to ?? LAST_DAY };
}

/** The last day of the quarter of a day. @param later that of so many quarters later */
function quarterEnd(day: string, later = 0): string {
  const [year = 0, month = 0] = day.split('-').map(Number);
  return new Date(Date.UTC(year, Math.ceil(month / 3) * 3 + 3 * later, 0)).toISOString().slice(0, 10);
}

export function inWindow(day: string, { from, to }: DateWindow): boolean {
  return day >= from && day <= to;
}

/**
 * Quarters, so that an item is in the same window in every round; the ends are those of the source's period. `current` change daily, and are for the
 * quick round; `all` are the whole history and the plans, because documents are added to meetings of years ago.
 */
export function roundWindows(since: string, now: Date, until?: string) {
  const today = now.toISOString().slice(0, 10);
  const all = quarters({ from: since, to: earliest(until, quarterEnd(today, 5)) });
  const ends = new Set([-1, 0, 1].map((later) => quarterEnd(today, later)));
  const isCurrent = ({ to }: DateWindow): boolean => ends.has(quarterEnd(to));
  return { current: all.filter(isCurrent), all };
}
