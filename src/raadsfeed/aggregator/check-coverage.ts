import { type DependencyNeeds, withDependencies } from './dependencies.ts';
import type { Source } from './source.ts';
import { readItemsIn } from './store/source-items.ts';
import { measureReading, saveCoverage } from './store/windows.ts';
import { type Coverage, totalCoverage } from './supplier/coverage.ts';
import { assertAnswered, requestOf, supplierSource, windowsOf } from './supplier/read-supplier.ts';
import type { LeftOut } from './supplier/source-adapter.ts';
import { type Period, periodWindows } from './supplier/windows.ts';

interface CheckOptions extends Period {
  readonly signal: AbortSignal;
  readonly progress: (line: string) => void;
}

/**
 * Measures coverage without publishing anything; stores the result, and logs a gap.
 * @returns not `complete` when the supplier could not be read whole
 */
export async function checkCoverage(
  needs: DependencyNeeds,
  source: Source,
  options: CheckOptions,
): Promise<Coverage & { readonly complete: boolean; readonly leftOut: LeftOut }> {
  const { signal, progress } = options;
  return await withDependencies(needs, async ({ adapters, pool, clock, log }) => {
    const of = supplierSource(source, adapters);
    const months: Coverage['months'][number][] = [];
    let complete = true;
    const leftOut = { confidential: 0, bodies: 0, period: 0 };
    for (const window of periodWindows(windowsOf(of, clock.now()).all, options)) {
      signal.throwIfAborted();
      const known = await readItemsIn(pool, source.id, window);
      const request = requestOf(pool, source.id, of, { ...window, depth: 'full' }, { known, signal });
      const reading = await of.adapter.readWindow(request);
      assertAnswered(reading.issues);
      const coverage = await measureReading(pool, of.source.organisatiecode, reading, known);
      await saveCoverage(pool, source.id, coverage, { window, period: of.period });
      months.push(...coverage.months);
      complete &&= reading.complete;
      for (const why of ['confidential', 'bodies', 'period'] as const) leftOut[why] += reading.leftOut?.[why] ?? 0;
      progress(`${window.from} to ${window.to}: ${coverage.held} of ${coverage.shown}`);
    }
    const coverage = totalCoverage(months);
    if (coverage.percentage < 100 || !complete) {
      const fields = { source: source.adres, coverage: coverage.percentage, complete };
      log.warn(fields, 'the feed lacks resources that the supplier shows');
    }
    return { ...coverage, complete, leftOut };
  });
}
