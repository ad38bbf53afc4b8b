/** Claims sources that are due, reads each for a while, and stores the outcome. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Pool } from '../../database/pool.ts';
import { FeedFault } from '../../lib/feed/service-document.ts';
import type { Logger } from '../../lib/log.ts';
import { OutboundError } from '../../lib/outbound/outbound-error.ts';
import { backoffMs } from '../../lib/time.ts';
import type { Dependencies } from './dependencies.ts';
import { type Lease, LeaseLostError } from './source.ts';
import { addIssues, resolveIssues } from './store/issues.ts';
import { claimDueSources, releaseSource, renewLeases, type SourceKind } from './store/leased-source.ts';
import type { readSupplier } from './supplier/read-supplier.ts';
import { SupplierFault } from './supplier/supplier-client.ts';

interface SchedulerOptions {
  readonly pool: Pool;
  readonly log: Logger;
  readonly holder: string;
  /** One kind, so that a slow supplier does not hold up other sources. */
  readonly kind: SourceKind;
  readonly concurrency: number;
  readonly leaseSeconds: number;
  readonly stopping: AbortSignal;
  readonly run: (lease: Lease, signal: AbortSignal) => Promise<void>;
}

const POLL_MS = 200;
/** There are several suppliers, and their sources are due every quarter of an hour. */
const SUPPLIER_POLL_MS = 500;

export function createScheduler(options: SchedulerOptions) {
  const { pool, log, holder, kind, concurrency, leaseSeconds, run } = options;
  const closing = new AbortController();
  const pollMs = kind === 'feed' ? POLL_MS : SUPPLIER_POLL_MS;
  const signal = AbortSignal.any([closing.signal, options.stopping]);
  const readers: Promise<void>[] = [];
  let renewal: NodeJS.Timeout | undefined;

  const read = async (): Promise<void> => {
    while (!signal.aborted) {
      try {
        const [lease] = await claimDueSources(pool, holder, { kind, limit: 1, leaseSeconds });
        if (lease !== undefined) {
          await run(lease, signal);
          continue;
        }
      } catch (error) {
        if (!signal.aborted) log.warn({ err: error }, 'sources cannot be claimed');
      }
      await sleep(pollMs * concurrency * (0.5 + Math.random()), undefined, { signal }).catch(() => undefined);
    }
  };
  return {
    start(): void {
      renewal = keepLeases(pool, holder, leaseSeconds, log);
      while (readers.length < concurrency) readers.push(read());
    },
    async close(): Promise<void> {
      closing.abort();
      await Promise.all(readers);
      clearInterval(renewal);
    },
  };
}

export function keepLeases(pool: Pool, holder: string, leaseSeconds: number, log: Logger): NodeJS.Timeout {
  const renew = (): void => {
    renewLeases(pool, holder, leaseSeconds).catch((error: unknown) =>
      log.warn({ err: error }, 'leases cannot be renewed'),
    );
  };
  return setInterval(renew, (leaseSeconds * 1000) / 3).unref();
}

const OWN_FAULT_MS = 5000;

/** @param read its `inMs`: when the source is due again; `isStillFailing`: nothing was read, so the last failure still applies */
export async function runSource(lease: Lease, read: typeof readSupplier, deps: Dependencies, signal: AbortSignal) {
  try {
    const { inMs, isStillFailing = false } = await read(lease, deps, signal);
    if (isStillFailing) await releaseSource(deps.pool, lease, { inMs, failure: 'kept' });
    else await releaseAfterSuccess(lease, inMs, deps);
  } catch (error) {
    await releaseAfterError(lease, error, deps, signal).catch((second: unknown) => {
      // The lease expires by itself.
      deps.log.error({ err: second, source: lease.source.adres }, 'the source cannot be released');
    });
  }
}

export async function releaseAfterSuccess(lease: Lease, inMs: number, deps: Dependencies): Promise<void> {
  const { id, adres, failures } = lease.source;
  if (failures > 0) {
    await resolveIssues(deps.pool, id, 'blocking');
    deps.log.info({ source: adres }, 'the source is read again');
  }
  await releaseSource(deps.pool, lease, { inMs });
}

/** @returns the stored failure of the source; `undefined` when the source was not at fault */
export async function releaseAfterError(
  lease: Lease,
  error: unknown,
  deps: Dependencies,
  signal: AbortSignal,
): Promise<Failure | undefined> {
  const { log, pool, clock } = deps;
  const { id, adres, pageSize, failures: before } = lease.source;
  if (error instanceof LeaseLostError) {
    log.info({ source: adres }, error.message);
    return undefined;
  }
  if (signal.aborted) {
    await releaseSource(pool, lease, { inMs: 0 });
    return undefined;
  }
  const found = describeFailure(error);
  if (found === undefined) {
    log.error({ err: error, source: adres }, 'a source could not be read because of a fault in this service');
    const failure = { kind: 'unexpected', message: 'a fault of this service; see its log', pageSize };
    await releaseSource(pool, lease, { inMs: OWN_FAULT_MS, failure });
    return undefined;
  }
  const { kind, message } = found;
  const failures = before + 1;
  const inMs = backoffMs({ firstMs: deps.backoffMs, maxMs: deps.backoffMaxMs }, failures, found.retryAfterMs);
  log.warn({ source: adres, fault: kind, failures, inMs }, `the source cannot be read: ${message}`);
  const smaller = kind === 'too-large' ? Math.max(1, Math.floor(pageSize / 4)) : pageSize;
  await releaseSource(pool, lease, { inMs, failure: { kind, message, pageSize: smaller } });
  const issue = { what: kind, where: adres, detail: message, times: 1, blocking: true };
  await addIssues(pool, id, [issue], clock.now());
  return found;
}

interface Failure {
  /** An `OutboundFault`, `FeedFaultCode` or `SupplierFault` code; a status as `status-503`. */
  readonly kind: string;
  readonly message: string;
  readonly retryAfterMs: number;
}

const MAX_RETRY_AFTER_MS = 86_400_000;

export function describeFailure(error: unknown): Failure | undefined {
  if (error instanceof FeedFault || error instanceof SupplierFault)
    return { kind: error.code, message: error.message, retryAfterMs: 0 };
  if (!(error instanceof OutboundError)) return undefined;
  return {
    kind: error.status === undefined ? error.code : `status-${error.status}`,
    message: error.message,
    retryAfterMs: Math.min(error.retryAfterMs ?? 0, MAX_RETRY_AFTER_MS),
  };
}
