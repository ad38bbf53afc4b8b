import { type KnownItem, partKey, type WindowReading } from './source-adapter.ts';
import { REGISTERS } from './windows.ts';

interface MonthCoverage {
  /** `YYYY-MM`. */
  readonly month: string;
  /** Named or only announced. */
  readonly shown: number;
  readonly held: number;
  readonly missing: readonly string[];
  /** Announced and not read, so without a name: also missing. */
  readonly unnamed: number;
}

export interface Coverage {
  readonly months: readonly MonthCoverage[];
  readonly shown: number;
  readonly held: number;
  /** Rounded down to a tenth: 100 only when nothing is missing. Coverage of nothing is 100. */
  readonly percentage: number;
}

/** By month; a document counts once, in the month of its first item. @param known given to the reading: unchanged items are not in it */
export function measureCoverage(
  { items, unchanged, unread }: Pick<WindowReading, 'items' | 'unchanged' | 'unread'>,
  known: readonly KnownItem[],
  holds: (key: string) => boolean,
): Coverage {
  const shown: readonly KnownItem[] = [...items, ...known.filter(({ key }) => unchanged.includes(key))];
  const counted = new Map<string, MonthCoverage>();
  for (const { day, parts } of shown.toSorted((a, b) => a.day.localeCompare(b.day))) {
    for (const part of parts) {
      const key = partKey(part);
      if (counted.has(key)) continue;
      // Register entries are in no window of days.
      const own = day === REGISTERS.from ? (part.registerdag ?? day) : day;
      const isHeld = holds(key);
      const missing = isHeld ? [] : [key];
      counted.set(key, { month: own.slice(0, 7), shown: 1, held: Number(isHeld), missing, unnamed: 0 });
    }
  }
  const announced = unread.map(({ month, count }) => ({ month, shown: count, held: 0, missing: [], unnamed: count }));
  return totalCoverage([...announced, ...counted.values()]);
}

export function totalCoverage(all: readonly MonthCoverage[]): Coverage {
  const sum = (parts: readonly MonthCoverage[], of: 'shown' | 'held' | 'unnamed') =>
    parts.reduce((total, part) => total + part[of], 0);
  const months = [...Map.groupBy(all, ({ month }) => month)]
    .map(([month, parts]) => ({
      month,
      shown: sum(parts, 'shown'),
      held: sum(parts, 'held'),
      missing: parts.flatMap(({ missing }) => missing),
      unnamed: sum(parts, 'unnamed'),
    }))
    .toSorted((a, b) => a.month.localeCompare(b.month));
  const [shown, held] = [sum(all, 'shown'), sum(all, 'held')];
  return { months, shown, held, percentage: shown === 0 ? 100 : Math.floor((held / shown) * 1000) / 10 };
}
