import type { Db } from '../../../database/transaction.ts';
import { partKey } from '../resource-key.ts';
import { readHeldKeys } from '../store/windows.ts';
import type { KnownItem, WindowReading } from './source-adapter.ts';

interface MonthCoverage {
  /** `YYYY-MM`. */
  readonly month: string;
  /** Resources that the supplier shows, named or only announced. */
  readonly shown: number;
  /** Of those, how many the feed has. */
  readonly held: number;
  /** `<resourceType>/<bronidentificatie>` of those that it has not. */
  readonly missing: readonly string[];
  /** Announced by the supplier, not read, so without a name: also missing. */
  readonly unnamed: number;
}

export interface Coverage {
  readonly months: readonly MonthCoverage[];
  readonly shown: number;
  readonly held: number;
  /** Rounded down to a tenth, so that it is 100 only when nothing is missing. An organisation with nothing is covered. */
  readonly percentage: number;
}

/**
 * Compares what the supplier shows with what the feed holds, by month. A document counts once, in the month of its first item.
 * @param known the items that were given to the readings: unchanged ones are not in the reading itself
 */
export function measureCoverage(
  readings: readonly WindowReading[],
  known: readonly KnownItem[],
  holds: (key: string) => boolean,
): Coverage {
  const months = new Map<string, { held: number; missing: string[]; unnamed: number }>();
  const monthOf = (month: string) => {
    const found = months.get(month) ?? { held: 0, missing: [], unnamed: 0 };
    months.set(month, found);
    return found;
  };
  const counted = new Set<string>();
  for (const { day, parts } of shownItems(readings, known)) {
    for (const key of parts.map(partKey)) {
      if (counted.has(key)) continue;
      counted.add(key);
      const month = monthOf(day.slice(0, 7));
      if (holds(key)) month.held += 1;
      else month.missing.push(key);
    }
  }
  for (const { month, count } of readings.flatMap(({ unread }) => unread)) monthOf(month).unnamed += count;
  const counts = [...months]
    .map(([month, count]) => ({ month, shown: count.held + count.missing.length + count.unnamed, ...count }))
    .toSorted((a, b) => a.month.localeCompare(b.month));
  const shown = counts.reduce((sum, month) => sum + month.shown, 0);
  const held = counts.reduce((sum, month) => sum + month.held, 0);
  const percentage = shown === 0 ? 100 : Math.floor((held / shown) * 1000) / 10;
  return { months: counts, shown, held, percentage };
}

function shownItems(readings: readonly WindowReading[], known: readonly KnownItem[]): readonly KnownItem[] {
  const unchanged = new Set(readings.flatMap((reading) => reading.unchanged));
  return [...readings.flatMap(({ items }) => items), ...known.filter(({ key }) => unchanged.has(key))].toSorted(
    (a, b) => a.day.localeCompare(b.day),
  );
}

/**
 * Compares what the supplier showed in these readings with what the feed holds now.
 * @param known the items that were handed to the readings
 */
export async function measureReadings(
  db: Db,
  organisatiecode: string,
  readings: readonly WindowReading[],
  known: readonly KnownItem[],
): Promise<Coverage> {
  const items = [...readings.flatMap((reading) => reading.items), ...known];
  const keys = new Set(items.flatMap(({ parts }) => parts.map(partKey)));
  const held = await readHeldKeys(db, organisatiecode, [...keys]);
  return measureCoverage(readings, known, (key) => held.has(key));
}
