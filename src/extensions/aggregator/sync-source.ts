/** Reads one source now, as an operator asked. */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { backoffMs } from '../../lib/outbound/outbound-client.ts';
import {
  closeDependencies,
  type DependencyNeeds,
  openDependencies,
  type SupplierDependencies,
} from './dependencies.ts';
import { followSource } from './feed/follow-source.ts';
import type { Lease } from './source.ts';
import { addIssues, resolveIssues } from './store/issues.ts';
import { releaseSource, rereadLease, takeLease } from './store/leased-source.ts';
import { requestComparison } from './store/sources.ts';
import { ensureWindows } from './store/windows.ts';
import { readOneWindow, supplierSource } from './supplier/read-supplier.ts';
import { quarters, roundWindows } from './supplier/windows.ts';
import { describeFailure, type Failure, keepLeases } from './worker.ts';

export interface SyncOptions {
  /** Of a supplier's API: days (`YYYY-MM-DD`); absent: all of them. */
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  readonly allowMassDelete: boolean;
  readonly signal: AbortSignal;
  readonly progress: (line: string) => void;
}

export interface SyncOutcome {
  readonly complete: boolean;
  readonly read: number;
  readonly published: number;
  readonly deleted: number;
  readonly withheld: number;
  readonly refused: number;
  readonly issues: number;
  /** Why it is not complete, when one thing stopped it. */
  readonly reason?: string;
}

type Sum = { -readonly [K in keyof SyncOutcome]: SyncOutcome[K] };

const LEASE_SECONDS = 60;
/** Attempts at a feed that fails. */
const ATTEMPTS = 4;
const BACKOFF = { firstMs: 500, maxMs: 10_000 };

/** Takes over the lease of a source, reads it to its end, and releases it. */
export async function syncSource(needs: DependencyNeeds, sourceId: number, options: SyncOptions): Promise<SyncOutcome> {
  const { pool } = needs;
  const deps = openDependencies(needs);
  const holder = `sync ${randomUUID()}`;
  if (options.allowMassDelete) await requestComparison(pool, sourceId, true);
  const lease = await takeLease(pool, sourceId, holder, LEASE_SECONDS);
  if (lease === undefined) throw new Error('the source was removed');
  const renewal = keepLeases(pool, holder, LEASE_SECONDS, needs.log);
  try {
    if (lease.source.soort === 'leveranciers-api') {
      const outcome = await syncSupplier(lease, deps, options);
      await releaseSource(pool, lease, { inMs: 0 });
      return outcome;
    }
    const { failure, ...outcome } = await syncFeed(lease, deps, options);
    await (failure === undefined ? saveSuccess(lease, deps) : saveFailure(lease, failure, deps));
    return failure === undefined ? outcome : { ...outcome, reason: `${failure.kind}: ${failure.message}` };
  } catch (error) {
    // Stopped, or a fault of our own: nothing is wrong with the source.
    await releaseSource(pool, lease, { inMs: 0 });
    throw error;
  } finally {
    clearInterval(renewal);
    await closeDependencies(deps);
  }
}

async function saveSuccess(lease: Lease, { pool, clock }: SupplierDependencies): Promise<void> {
  await resolveIssues(pool, lease.source.id, clock.now());
  await releaseSource(pool, lease, { inMs: 0 });
}

/** Stores the failure as the service does; the service may try again at once. */
async function saveFailure(
  lease: Lease,
  { kind, message }: Failure,
  { pool, clock }: SupplierDependencies,
): Promise<void> {
  const { id, adres, pageSize } = lease.source;
  await addIssues(pool, id, [{ what: kind, where: adres, detail: message, times: 1, blocking: true }], clock.now());
  await releaseSource(pool, lease, { inMs: 0, failure: { kind, message, pageSize } });
}

function emptySum(): Sum {
  return { complete: false, read: 0, published: 0, deleted: 0, withheld: 0, refused: 0, issues: 0 };
}

async function syncFeed(
  start: Lease,
  deps: SupplierDependencies,
  { signal, progress }: SyncOptions,
): Promise<SyncOutcome & { readonly failure?: Failure }> {
  const sum = emptySum();
  let last: string | undefined;
  for (let failures = 0; ; ) {
    signal.throwIfAborted();
    try {
      const read = await rereadLease(deps.pool, start);
      // What failed before in this run counts as it does for the service.
      const lease = last === undefined ? read : { ...read, source: { ...read.source, failureKind: last, failures } };
      const run = await followSource(lease, deps, { signal, maxPages: 10, tolerant: failures >= ATTEMPTS - 2 });
      failures = 0;
      last = undefined;
      for (const key of ['read', 'published', 'deleted', 'withheld', 'refused'] as const) sum[key] += run[key];
      progress(`${sum.read} read, ${sum.published} recorded`);
      if (!run.caughtUp) continue;
      return { ...sum, complete: sum.withheld === 0 && sum.refused === 0, issues: sum.refused };
    } catch (error) {
      const failure = describeFailure(error);
      if (failure === undefined) throw error;
      failures = failure.kind === last ? failures + 1 : 1;
      last = failure.kind;
      if (failures >= ATTEMPTS) return { ...sum, issues: sum.refused + 1, failure };
      progress(`${failure.kind}: ${failure.message}; trying again`);
      await sleep(backoffMs(BACKOFF, failures, Math.min(failure.retryAfterMs, 60_000)), undefined, { signal });
    }
  }
}

async function syncSupplier(lease: Lease, deps: SupplierDependencies, options: SyncOptions): Promise<SyncOutcome> {
  const { from, to, allowMassDelete, signal, progress } = options;
  const of = supplierSource(lease.source, deps.adapters);
  const { all } = roundWindows(of.from, deps.clock.now());
  await ensureWindows(deps.pool, lease.source.id, all);
  const first = from ?? all[0]?.from ?? of.from;
  const last = to ?? all.at(-1)?.to ?? first;
  // Newest first: that is what people look for.
  const windows = (from === undefined && to === undefined ? all : quarters({ from: first, to: last })).toReversed();
  const sum = { ...emptySum(), complete: true };
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
  }
  return sum;
}
