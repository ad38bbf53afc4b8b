import { setTimeout as sleep } from 'node:timers/promises';
import { FeedFault } from '../feed-client/feed-fault.ts';
import type { Pool } from '../kernel/database/pool.ts';
import type { Logger } from '../kernel/log.ts';
import { OutboundError } from '../kernel/outbound/outbound-error.ts';
import { backoffMs } from '../kernel/outbound/retry.ts';
import type { AggregatorNeeds } from './dependencies.ts';
import type { AggregatorMetrics } from './metrics.ts';
import { type Lease, LeaseLostError, type Source } from './source.ts';
import { addIssues, resolveIssues } from './store/issues.ts';
import { claimDueSources, releaseFailed, releaseSource, renewLeases } from './store/leases.ts';

interface SchedulerOptions {
  readonly pool: Pool;
  readonly log: Logger;
  /** Who this is: unique among all instances. */
  readonly holder: string;
  /** The kind of sources: those that take long to read do not keep the others waiting. */
  readonly soort: Source['soort'];
  /** Sources at the same time. */
  readonly concurrency: number;
  readonly leaseSeconds: number;
  /** Fires when the process begins to stop. */
  readonly stopping: AbortSignal;
  /** Works on a source and gives it back; never throws. */
  readonly run: (lease: Lease, signal: AbortSignal) => Promise<void>;
}

interface Scheduler {
  start(): void;
  /** Stops taking sources, and waits for what is under way. */
  close(): Promise<void>;
}

/** Milliseconds between looks for sources that are due. */
const LOOK_MS = 200;
/** After the database could not be asked. */
const AWAY_MS = 1000;

/** Takes sources that are due, a few at a time, and sees that their leases last as long as the work. */
export function createScheduler(options: SchedulerOptions): Scheduler {
  const { pool, log, holder, soort, concurrency, leaseSeconds, run } = options;
  const stopping = new AbortController();
  const signal = AbortSignal.any([stopping.signal, options.stopping]);
  const running = new Set<Promise<void>>();
  let loop: Promise<void> | undefined;
  let renewal: NodeJS.Timeout | undefined;

  const take = async (): Promise<boolean> => {
    const leases = await claimDueSources(pool, holder, {
      soort,
      limit: concurrency - running.size,
      leaseSeconds,
    });
    for (const lease of leases) {
      const work = run(lease, signal).finally(() => running.delete(work));
      running.add(work);
    }
    return leases.length > 0;
  };
  const work = async (): Promise<void> => {
    while (!signal.aborted) {
      try {
        const isFull = running.size >= concurrency;
        if (!isFull && (await take())) continue;
        await Promise.race([...(isFull ? running : []), sleep(LOOK_MS, undefined, { signal })]);
      } catch (error) {
        if (signal.aborted) return;
        log.warn({ err: error }, 'sources cannot be taken up');
        await sleep(AWAY_MS, undefined, { signal }).catch(() => undefined);
      }
    }
  };
  return {
    start() {
      loop ??= work();
      renewal ??= setInterval(
        () => {
          if (running.size === 0) return;
          renewLeases(pool, holder, leaseSeconds).catch((error: unknown) =>
            log.warn({ err: error }, 'leases cannot be renewed'),
          );
        },
        (leaseSeconds * 1000) / 3,
      );
      renewal.unref();
    },
    async close() {
      stopping.abort();
      clearInterval(renewal);
      await loop;
      await Promise.all(running);
    },
  };
}

export interface RunTurnNeeds extends AggregatorNeeds {
  readonly metrics: AggregatorMetrics;
  readonly backoff: { readonly firstMs: number; readonly maxMs: number };
  /** Reads a source for a while. @returns milliseconds until it is worth looking again */
  readonly turn: (lease: Lease, signal: AbortSignal) => Promise<{ readonly inMs: number }>;
}

/** Milliseconds after which a source is tried again when the fault was ours. */
const OWN_FAULT_MS = 5000;

/** One turn at a source, and what comes of it: due again later, or a failure that is kept. Never throws. */
export async function runTurn(lease: Lease, needs: RunTurnNeeds, signal: AbortSignal): Promise<void> {
  const { source } = lease;
  const { log, pool, clock, metrics } = needs;
  try {
    const { inMs } = await needs.turn(lease, signal);
    if (source.mislukt > 0) {
      await resolveIssues(pool, source.id, clock.now());
      log.info({ source: source.adres }, 'the source is read again');
    }
    await releaseSource(pool, lease, { inMs });
    metrics.turns.inc({ result: 'ok' });
  } catch (error) {
    await giveBack(lease, error, needs, signal).catch((second: unknown) => {
      // The lease runs out by itself.
      log.error({ err: second, source: source.adres }, 'the source cannot be given back');
    });
  }
}

async function giveBack(lease: Lease, error: unknown, needs: RunTurnNeeds, signal: AbortSignal): Promise<void> {
  const { source } = lease;
  const { log, pool, clock, metrics } = needs;
  if (error instanceof LeaseLostError) {
    log.info({ source: source.adres }, error.message);
    return;
  }
  if (signal.aborted) {
    await releaseSource(pool, lease, { inMs: 0 });
    return;
  }
  const failure = describeFailure(error);
  metrics.turns.inc({ result: failure?.kind ?? 'unexpected' });
  const failures = source.mislukt + 1;
  const pageSize =
    failure?.kind === 'too-large' ? Math.max(1, Math.floor(source.paginagrootte / 4)) : source.paginagrootte;
  if (failure === undefined) {
    log.error({ err: error, source: source.adres }, 'a source cannot be read, by a fault of this service');
    const wait = { inMs: OWN_FAULT_MS, kind: 'unexpected', message: 'a fault of this service; see its log', pageSize };
    await releaseFailed(pool, lease, wait);
    return;
  }
  const { kind, message } = failure;
  const inMs = backoffMs(needs.backoff, failures, failure.retryAfterMs);
  log.warn({ source: source.adres, fault: kind, failures, inMs }, `the source cannot be read: ${message}`);
  await releaseFailed(pool, lease, { inMs, kind, message, pageSize });
  const issue = { what: kind, where: source.adres, detail: message, times: 1, blocking: true };
  await addIssues(pool, source.id, [issue], clock.now());
}

/** A failure of a source as it is kept and shown. */
export interface Failure {
  /** Stable word: of `OutboundFault` or `FeedFaultCode`, a status as `status-503`. */
  readonly kind: string;
  readonly message: string;
  /** Milliseconds that the source asks to wait. */
  readonly retryAfterMs: number;
}

/** Longest that a source may ask to wait, in milliseconds. */
const MAX_RETRY_AFTER_MS = 86_400_000;

/** @returns `undefined` for what is not the source's doing */
export function describeFailure(error: unknown): Failure | undefined {
  if (error instanceof FeedFault) return { kind: error.code, message: error.message, retryAfterMs: 0 };
  if (!(error instanceof OutboundError)) return undefined;
  return {
    kind: error.status === undefined ? error.code : `status-${error.status}`,
    message: error.message,
    retryAfterMs: Math.min(error.retryAfterMs ?? 0, MAX_RETRY_AFTER_MS),
  };
}
