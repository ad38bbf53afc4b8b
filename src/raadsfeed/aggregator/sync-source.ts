import { randomUUID } from 'node:crypto';
import { type Dependencies, type DependencyNeeds, openDependencies } from './dependencies.ts';
import { followSource } from './feed/follow-source.ts';
import type { Lease } from './source.ts';
import { rereadLease, takeLease } from './store/leased-source.ts';
import { requestComparison } from './store/sources.ts';
import { assertAnswered, prepareWindows, readOneWindow, supplierSource } from './supplier/read-supplier.ts';
import { type Period, periodWindows } from './supplier/windows.ts';
import { keepLeases, releaseAfterError, releaseAfterSuccess } from './worker.ts';

export interface SyncOptions extends Period {
  readonly allowMassDelete: boolean;
  readonly signal: AbortSignal;
  readonly progress: (line: string) => void;
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
