import { closeDependencies, type DependencyNeeds, openDependencies } from './dependencies.ts';
import type { Source } from './source.ts';
import { readItemsIn } from './store/source-items.ts';
import { saveCoverage } from './store/windows.ts';
import { type Coverage, measureReadings } from './supplier/coverage.ts';
import { supplierSource } from './supplier/read-supplier.ts';
import type { KnownItem, WindowReading } from './supplier/source-adapter.ts';
import { type Period, periodWindows, roundWindows } from './supplier/windows.ts';

interface CheckOptions extends Period {
  readonly signal: AbortSignal;
  readonly progress: (line: string) => void;
}

/** What the feed has of what the supplier shows; not `complete` when not all of it could be read. */
type CheckedCoverage = Coverage & { readonly complete: boolean };

/** Counts what a supplier shows and what the feed has, without publishing anything; stores the result, and logs it when something is missing. */
export async function checkCoverage(
  needs: DependencyNeeds,
  source: Source,
  options: CheckOptions,
): Promise<CheckedCoverage> {
  const { pool, clock, log } = needs;
  const deps = openDependencies(needs);
  try {
    const of = supplierSource(source, deps.adapters);
    const { all } = roundWindows(of.from, clock.now());
    const windows = periodWindows(all, options);
    const readings: WindowReading[] = [];
    const everyKnown: KnownItem[] = [];
    for (const window of windows) {
      options.signal.throwIfAborted();
      const known = await readItemsIn(pool, source.id, window);
      const request = { source: of.source, window, depth: 'full', known, signal: options.signal } as const;
      const reading = await of.adapter.readWindow(request);
      // Only names are counted: the content of years of meetings need not stay in memory.
      const items = reading.items.map((item) => ({ ...item, records: [] }));
      readings.push({ ...reading, items, documents: [] });
      everyKnown.push(...known);
      options.progress(`${window.from} to ${window.to}: ${items.length + reading.unchanged.length} items`);
    }
    const coverage = await measureReadings(pool, of.source.organisatiecode, readings, everyKnown);
    const [first, last] = [windows[0], windows.at(-1)];
    if (first !== undefined && last !== undefined) {
      await saveCoverage(pool, source.id, coverage, { from: first.from, to: last.to }, clock.now());
    }
    const complete = readings.every((reading) => reading.complete);
    if (coverage.percentage < 100 || !complete) {
      log.warn(
        { source: source.adres, coverage: coverage.percentage, complete },
        'the feed has not all that the supplier shows',
      );
    }
    return { ...coverage, complete };
  } finally {
    await closeDependencies(deps);
  }
}
