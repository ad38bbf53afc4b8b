import { Counter, Gauge, type Registry } from 'prom-client';
import { checkRetentionLogin } from '../database/open-database.ts';
import type { ReadinessCheck, ReadinessResult } from '../seams/operations.ts';
import type { LogNeeds } from './processing-log.ts';
import { prune, type RetentionRuns, readRuns } from './store/retention.ts';

/** How often the records of runs are read: instances share one schedule by them, and metrics show the runs of other processes. */
const CHECK_EVERY_MS = 15_000;
/** The next attempt after a failure, unless the schedule has one sooner. */
const RETRY_MS = 600_000;
const MINUTE_MS = 60_000;

export interface RetentionSchedule {
  /** Warns of a run that failed or did not happen; serving goes on. */
  readonly check: ReadinessCheck;
  stop(): Promise<void>;
}

/** Removes what is past its retention as often as configured, with the outcome in metrics and readiness. */
type RetentionNeeds = Pick<
  LogNeeds,
  'config' | 'pool' | 'prunePool' | 'clock' | 'log' | 'metrics' | 'proof' | 'stopping'
>;

export function startRetention(needs: RetentionNeeds): RetentionSchedule {
  const { config, pool, prunePool, clock, log } = needs;
  const rules = config.verwerkingenlog;
  const everyMs = rules.pruneIntervalMinutes * MINUTE_MS;
  const started = clock.now().getTime();
  const metrics = createMetrics(needs.metrics);
  const stopped = new AbortController();
  const signal = AbortSignal.any([needs.stopping, stopped.signal]);
  let failure: string | undefined;
  let notBefore = 0;

  async function runIfDue(): Promise<void> {
    // When the database is unavailable, its own readiness check says so.
    const runs = await readRuns(pool).catch(() => undefined);
    if (runs === undefined || signal.aborted) return;
    metrics.show(runs);
    const now = clock.now().getTime();
    if (everyMs === 0 || !isDue(runs, now)) {
      // Another run succeeded since.
      failure = undefined;
      return;
    }
    if (now < notBefore) return;
    try {
      // Names the grant that a login misses when it cannot act as the role.
      await checkRetentionLogin(prunePool, config.database.pruneUrl ?? config.database.url ?? '');
      const pruned = await prune({
        pool: prunePool,
        clock,
        rules,
        dryRun: false,
        signal,
        proof: needs.proof('verwerkingen', 'kept'),
      });
      failure = undefined;
      log.info(pruned, 'actions past their term were removed');
      metrics.show(await readRuns(pool));
    } catch (err) {
      if (signal.aborted) return;
      metrics.failures.inc();
      failure = err instanceof Error ? err.message : String(err);
      notBefore = now + Math.min(everyMs, RETRY_MS);
      log.error({ err }, 'removing actions past their term failed');
    }
  }

  function isDue({ last }: RetentionRuns, now: number): boolean {
    return last === undefined || last.fault !== null || last.begunAt.getTime() + everyMs <= now;
  }

  let running: Promise<void> | undefined;
  const begin = (): void => {
    running ??= runIfDue().finally(() => {
      running = undefined;
    });
  };
  begin();
  const timer = setInterval(begin, CHECK_EVERY_MS).unref();

  async function check(): Promise<ReadinessResult> {
    if (failure !== undefined) return { ok: true, warning: `the last run failed: ${failure}` };
    const { last, lastSuccess } = await readRuns(pool);
    if (last?.fault) return { ok: true, warning: `the last run failed: ${last.fault}` };
    const since = Math.max(lastSuccess?.begunAt.getTime() ?? 0, started);
    if (everyMs > 0 && clock.now().getTime() > since + 2 * everyMs) {
      return { ok: true, warning: `no run has succeeded since ${lastSuccess?.begunAt.toISOString() ?? 'the start'}` };
    }
    return { ok: true };
  }

  return {
    check: { name: 'retention', vital: false, check },
    async stop() {
      clearInterval(timer);
      stopped.abort();
      await running;
    },
  };
}

/** Set when the records are read, for metrics must be there when the database is not. */
function createMetrics(metrics: Registry): { failures: Counter; show: (runs: RetentionRuns) => void } {
  const registers = [metrics];
  const lastSuccessAt = new Gauge({
    name: 'koppelvlak_verwerkingenlog_prune_last_success_timestamp_seconds',
    help: 'When the last successful run of retention began, in any process; 0: never',
    registers,
  });
  const lastRemoved = new Gauge({
    name: 'koppelvlak_verwerkingenlog_prune_last_removed',
    help: 'Actions that the last run of retention removed',
    registers,
  });
  const withoutTerm = new Gauge({
    name: 'koppelvlak_verwerkingenlog_kept_without_term',
    help: 'Actions without any term, which are kept, as the last successful run counted them',
    registers,
  });
  return {
    failures: new Counter({
      name: 'koppelvlak_verwerkingenlog_prune_failures_total',
      help: 'Runs of retention in this process that failed',
      registers,
    }),
    show({ last, lastSuccess }) {
      lastSuccessAt.set((lastSuccess?.begunAt.getTime() ?? 0) / 1000);
      lastRemoved.set(last?.removed ?? 0);
      withoutTerm.set(lastSuccess?.withoutTerm ?? 0);
    },
  };
}
