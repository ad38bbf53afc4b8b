import type { Pool } from '../../kernel/database/pool.ts';
import type { ChosenLevering } from '../domain/levering.ts';
import type { CountedLevering } from '../domain/page-plan.ts';
import { countSelected, type SelectedLevering, type SelectOptions } from '../store/selected-records.ts';

/** Counts that were made before. Leveringen never change, so a count holds for as long as they are there. */
export type CountCache = Map<string, readonly number[]>;

/** Counts are of some thousands of leveringen at most. */
const MAX_CACHED = 100;

export function selectedOf(chosen: readonly ChosenLevering[]): SelectedLevering[] {
  return chosen.flatMap(({ levering, selection }) => (selection === undefined ? [] : [{ levering, selection }]));
}

export interface CountOptions {
  readonly pool: Pool;
  readonly select: SelectOptions;
  readonly cache: CountCache;
  readonly signal: AbortSignal;
}

/** Says of each chosen levering how many of its records are given. */
export async function countRecords(
  chosen: readonly ChosenLevering[],
  { pool, select, cache, signal }: CountOptions,
): Promise<CountedLevering[]> {
  const [first] = select.all;
  const key = JSON.stringify([first?.selection.period, select.all.map(({ levering }) => levering.id)]);
  const counts = cache.get(key) ?? (await countSelected(pool, select, signal));
  cache.delete(key);
  cache.set(key, counts);
  const [oldest] = cache.keys();
  if (cache.size > MAX_CACHED && oldest !== undefined) cache.delete(oldest);
  let next = 0;
  return chosen.map(({ levering, selection }) => {
    if (selection === undefined) return { levering, selection, records: levering.records };
    const records = counts[next] ?? 0;
    next += 1;
    return { levering, selection, records };
  });
}
