import { dayAfter } from '../../../lib/time.ts';
import type { DateWindow } from './source-adapter.ts';

const DAY = 86_400_000;

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

export const LAST_DAY = '9999-12-31';

export function periodOf({ from = '1000-01-01', to = LAST_DAY }: Period = {}): DateWindow {
  return { from, to };
}

function overlap(one: DateWindow, other: DateWindow): DateWindow {
  const [, from = one.from] = [one.from, other.from].toSorted();
  const [to = one.to] = [one.to, other.to].toSorted();
  return { from, to };
}

/** The quarters in a chosen period, or all windows without one. @param all the windows of the source, oldest first */
export function periodWindows(all: readonly DateWindow[], period: Period): readonly DateWindow[] {
  if (period.from === undefined && period.to === undefined) return all;
  const days = all.filter((window) => !isRegisters(window));
  const [first, last] = [days[0], days.at(-1)];
  if (first === undefined || last === undefined) return [];
  return quarters(overlap(periodOf(period), { from: first.from, to: last.to }));
}

/** Oldest first; the first and last are cut off at the ends. */
export function quarters(window: DateWindow): readonly DateWindow[] {
  const found: DateWindow[] = [];
  for (let from = window.from; from <= window.to; ) {
    const to = quarterEnd(from);
    found.push(overlap(window, { from, to }));
    from = dayAfter(to);
  }
  return found;
}

/** A day without meetings stands for the registers, which are read whole. */
export const REGISTERS: DateWindow = { from: '0001-01-01', to: '0001-01-01' };

export function isRegisters({ from }: DateWindow): boolean {
  return from === REGISTERS.from;
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
  const all = quarters(overlap(periodOf({ from: since, to: until }), { from: since, to: quarterEnd(today, 5) }));
  const ends = new Set([-1, 0, 1].map((later) => quarterEnd(today, later)));
  return { current: all.filter(({ to }) => ends.has(quarterEnd(to))), all };
}
