import type { DateWindow } from './source-adapter.ts';

const DAY = 86_400_000;

function toTime(day: string): number {
  return Date.parse(`${day}T00:00:00Z`);
}

function toDay(time: number): string {
  return new Date(time).toISOString().slice(0, 10);
}

export function dayBefore(day: string): string {
  return toDay(toTime(day) - DAY);
}

/** The last possible day is followed by itself. */
export function dayAfter(day: string): string {
  return day === '9999-12-31' ? day : toDay(toTime(day) + DAY);
}

/** `undefined` for a single day. */
export function halves({ from, to }: DateWindow): readonly [DateWindow, DateWindow] | undefined {
  const days = Math.round((toTime(to) - toTime(from)) / DAY) + 1;
  if (days < 2) return undefined;
  const middle = toTime(from) + Math.floor(days / 2) * DAY;
  return [
    { from, to: toDay(middle - DAY) },
    { from: toDay(middle), to },
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
    const date = new Date(toTime(start));
    const next = toDay(Date.UTC(date.getUTCFullYear(), Math.floor(date.getUTCMonth() / 3) * 3 + 3, 1));
    const end = toDay(toTime(next) - DAY);
    found.push({ from: start, to: end < to ? end : to });
    start = next;
  }
  return found;
}

/** A day without meetings stands for the registers, which are read whole. */
export const REGISTERS: DateWindow = { from: '0001-01-01', to: '0001-01-01' };

export function isRegisters({ from }: DateWindow): boolean {
  return from === REGISTERS.from;
}

export function periodOf({ from, to }: Partial<DateWindow> = {}): DateWindow {
  return { from: from ?? '1000-01-01', to: to ?? '9999-12-31' };
}

function quarterEnd(day: string): string {
  const date = new Date(toTime(day));
  const next = Date.UTC(date.getUTCFullYear(), Math.floor(date.getUTCMonth() / 3) * 3 + 3, 1);
  return toDay(next - DAY);
}

export function inWindow(day: string, { from, to }: DateWindow): boolean {
  return day >= from && day <= to;
}

interface RoundWindows {
  /** Those that change daily: for the quick round. */
  readonly current: readonly DateWindow[];
  /** The whole history and the plans: documents are added to meetings of years ago. */
  readonly all: readonly DateWindow[];
}

/** Quarters, so that an item is in the same window in every round; the ends are those of the source's period. */
export function roundWindows(since: string, now: Date, until?: string): RoundWindows {
  const quarterOf = (months: number): DateWindow => {
    const first = Math.floor(now.getUTCMonth() / 3) * 3 + months;
    const from = Date.UTC(now.getUTCFullYear(), first, 1);
    return { from: toDay(from), to: toDay(Date.UTC(now.getUTCFullYear(), first + 3, 1) - DAY) };
  };
  const all = quarters({ from: since, to: earliest(until, quarterOf(15).to) });
  const ends = new Set([-3, 0, 3].map((months) => quarterOf(months).to));
  const isCurrent = ({ to }: DateWindow): boolean => ends.has(quarterEnd(to));
  return { current: all.filter(isCurrent), all };
}
