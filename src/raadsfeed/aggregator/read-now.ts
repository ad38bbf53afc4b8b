/** Reads a source at an operator's word, whether it is due or not: to show its last meetings, to publish it, or to measure what the feed lacks. */
import { randomUUID } from 'node:crypto';
import { OutboundError } from '../../lib/outbound/outbound-error.ts';
import { dayAfter, dutchDay } from '../../lib/time.ts';
import { type Dependencies, type DependencyNeeds, openDependencies, withDependencies } from './dependencies.ts';
import { followSource } from './feed/follow-source.ts';
import type { NewSource } from './plan-sources.ts';
import type { Lease, Source } from './source.ts';
import { rereadLease, takeLease } from './store/leased-source.ts';
import { readItemsIn } from './store/source-items.ts';
import { requestComparison } from './store/sources.ts';
import { measureReading, saveCoverage } from './store/windows.ts';
import { type Coverage, totalCoverage } from './supplier/coverage.ts';
import {
  assertAnswered,
  prepareWindows,
  readOneWindow,
  requestOf,
  supplierSource,
  windowsOf,
} from './supplier/read-supplier.ts';
import type { DateWindow, Preview } from './supplier/source-adapter.ts';
import { SupplierError, SupplierFault } from './supplier/supplier-client.ts';
import { type Period, periodWindows } from './supplier/windows.ts';
import { keepLeases, releaseAfterError, releaseAfterSuccess } from './worker.ts';

/** The quarter that ends today, or with the period of a source: long enough to have something in summer. */
export function lastQuarter(tot: string | null | undefined, now: Date): DateWindow {
  const today = dutchDay(now);
  const to = typeof tot === 'string' && tot < today ? tot : today;
  return { from: dayAfter(to, -92), to };
}

/** The recent meetings of a supplier's source; a text when it cannot be read, `undefined` if a preview would take as long as reading. */
export async function previewSource(
  terms: NewSource,
  { adapters, clock }: Pick<Dependencies, 'adapters' | 'clock'>,
  signal: AbortSignal,
): Promise<Preview | string | undefined> {
  const { adapter, source } = supplierSource(terms, adapters);
  const request = { window: lastQuarter(terms.tot, clock.now()), signal };
  try {
    const found = source.options?.version === undefined ? await adapter.prepare({ source, ...request }) : {};
    const options = { ...source.options, ...found };
    const preview = await adapter.preview({ source: { ...source, options }, ...request });
    return preview && { ...preview, options };
  } catch (error) {
    const isOfSupplier = error instanceof SupplierError || error instanceof SupplierFault;
    if (isOfSupplier || error instanceof OutboundError) return error.message;
    throw error;
  }
}

interface ReadOptions extends Period {
  readonly signal: AbortSignal;
  readonly progress: (line: string) => void;
}

export interface SyncOptions extends ReadOptions {
  readonly allowMassDelete: boolean;
}

const LEASE_SECONDS = 60;
const NOTHING = { complete: true, read: 0, published: 0, deleted: 0, withheld: 0, refused: 0, issues: 0 };
type Sum = typeof NOTHING & { reason?: string };

export async function syncSource(needs: DependencyNeeds, sourceId: number, options: SyncOptions) {
  const deps = openDependencies(needs);
  const { pool, log } = deps;
  const holder = `sync ${randomUUID()}`;
  if (options.allowMassDelete) await requestComparison(pool, sourceId);
  const lease = await takeLease(pool, sourceId, holder, LEASE_SECONDS);
  if (lease === undefined) throw new Error('the source was removed');
  const renewal = keepLeases(pool, holder, LEASE_SECONDS, log);
  const sum: Sum = { ...NOTHING };
  try {
    await (lease.source.soort === 'feed' ? syncFeed : syncSupplier)(lease, sum, deps, options);
    await releaseAfterSuccess(lease, 0, deps);
    return sum;
  } catch (error) {
    const failure = await releaseAfterError(lease, error, deps, options.signal);
    if (failure === undefined) throw error;
    const reason = `${failure.kind}: ${failure.message}`;
    return { ...sum, complete: false, issues: sum.issues + 1, reason };
  } finally {
    clearInterval(renewal);
    await deps.close();
  }
}

async function syncFeed(start: Lease, sum: Sum, deps: Dependencies, { signal, progress }: SyncOptions): Promise<void> {
  for (;;) {
    signal.throwIfAborted();
    const run = await followSource(await rereadLease(deps.pool, start), deps, signal, true);
    for (const key of ['read', 'published', 'deleted', 'withheld', 'refused'] as const) sum[key] += run[key];
    progress(`${sum.read} read, ${sum.published} recorded`);
    // A source that is stuck is due later.
    if (!run.caughtUp && run.inMs === 0) continue;
    sum.complete = run.caughtUp && sum.withheld === 0 && sum.refused === 0;
    sum.issues = sum.refused;
    return;
  }
}

async function syncSupplier(lease: Lease, sum: Sum, deps: Dependencies, options: SyncOptions): Promise<void> {
  const { allowMassDelete, signal, progress } = options;
  const of = supplierSource(lease.source, deps.adapters);
  const { all } = await prepareWindows(lease, of, deps, allowMassDelete);
  // Newest first.
  const windows = periodWindows(all, options).toReversed();
  for (const [i, window] of windows.entries()) {
    signal.throwIfAborted();
    const done = await readOneWindow(lease, of, { ...window, depth: 'full' }, deps, { signal, allowMassDelete });
    for (const key of ['read', 'published', 'deleted', 'withheld'] as const) sum[key] += done[key];
    sum.issues += done.issues.length;
    sum.complete &&= done.complete;
    progress(
      `${i + 1} of ${windows.length}: ${window.from} to ${window.to}: ${done.read} read, ${done.published} recorded, ` +
        `${done.coverage.percentage} % covered${done.complete ? '' : ', not complete'}`,
    );
    assertAnswered(done.issues);
  }
}

/** Measures and stores coverage without publishing anything. @returns not `complete` when the supplier could not be read whole */
export async function checkCoverage(needs: DependencyNeeds, source: Source, options: ReadOptions) {
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
