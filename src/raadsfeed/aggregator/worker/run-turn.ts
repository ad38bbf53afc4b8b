import { backoffMs } from '../../../kernel/outbound/outbound-client.ts';
import type { AggregatorMetrics } from '../metrics.ts';
import type { AggregatorNeeds } from '../needs.ts';
import { type Lease, LeaseLostError } from '../source.ts';
import { addIssues, resolveIssues } from '../store/issues.ts';
import { releaseFailed, releaseSource } from '../store/leases.ts';
import { describeFailure } from './describe-failure.ts';

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
