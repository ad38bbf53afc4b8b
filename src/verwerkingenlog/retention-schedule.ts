import { Counter, Gauge } from 'prom-client';
import { checkRetentionLogin } from '../kernel/database/open-database.ts';
import type { Platform } from '../kernel/platform.ts';
import type { ReadinessCheck, ReadinessResult } from '../kernel/readiness.ts';
import { prune } from './store/prune.ts';
import { readRuns } from './store/retention-run.ts';

/** How often is looked whether a run is due: several instances share one schedule, through the lines that runs leave. */
const LOOK_EVERY_MS = 15_000;
/** How soon after a failure is tried again, when the schedule itself is not sooner. */
const RETRY_MS = 600_000;
const MINUTE_MS = 60_000;

export interface RetentionSchedule {
  /** Tells of a run that failed or did not happen. Serving goes on: it is a warning. */
  readonly check: ReadinessCheck;
  stop(): Promise<void>;
}

/** Removes what is past its retention as often as configured, and shows in metrics and readiness how that went. */
export function startRetention(platform: Platform): RetentionSchedule {
  const { config, pool, prunePool, clock, log } = platform;
  const rules = config.verwerkingenlog;
  const everyMs = rules.pruneIntervalMinutes * MINUTE_MS;
  const started = clock.now().getTime();
  const failures = new Counter({
    name: 'verwerkingenlog_prune_failures_total',
    help: 'Runs of retention in this process that failed',
    registers: [platform.metrics],
  });
  measureRuns(platform);
  const stopped = new AbortController();
  const signal = AbortSignal.any([platform.stopping, stopped.signal]);
  let failure: string | undefined;
  let notBefore = 0;
  let running: Promise<void> | undefined;

  async function run(): Promise<void> {
    const { removed, byMonth, droppedMonths, withoutTerm } = await prune({
      pool: prunePool,
      clock,
      rules,
      dryRun: false,
      signal,
    });
    failure = undefined;
    log.info({ removed, byMonth, droppedMonths, withoutTerm }, 'actions past their term were removed');
  }

  async function runIfDue(): Promise<void> {
    const now = clock.now().getTime();
    try {
      if (now < notBefore || signal.aborted || !(await isDue(now))) return;
      await run();
    } catch (err) {
      failed(err, now);
    }
  }

  function failed(err: unknown, now: number): void {
    if (signal.aborted) return;
    failures.inc();
    failure = err instanceof Error ? err.message : String(err);
    notBefore = now + Math.min(everyMs, RETRY_MS);
    log.error({ err }, 'removing actions past their term failed');
  }

  async function isDue(now: number): Promise<boolean> {
    const { last } = await readRuns(pool);
    if (last === undefined || last.fault !== null) return true;
    return last.begunAt.getTime() + everyMs <= now;
  }

  const look = (): void => {
    running ??= runIfDue().finally(() => {
      running = undefined;
    });
  };
  const timer = everyMs > 0 ? setInterval(look, Math.min(everyMs, LOOK_EVERY_MS)).unref() : undefined;
  if (everyMs > 0) {
    // A login that may not act as the role is found at once, not when the first run is due.
    running = checkRetentionLogin(prunePool, config.database.pruneUrl ?? config.database.url ?? '')
      .then(runIfDue, (err: unknown) => failed(err, clock.now().getTime()))
      .finally(() => {
        running = undefined;
      });
  }

  async function check(): Promise<ReadinessResult> {
    if (failure !== undefined) return { ok: true, warning: `the last run failed: ${failure}` };
    const { last, lastGood } = await readRuns(pool);
    if (last?.fault) return { ok: true, warning: `the last run failed: ${last.fault}` };
    const since = Math.max(lastGood?.begunAt.getTime() ?? 0, started);
    if (everyMs > 0 && clock.now().getTime() > since + 2 * everyMs) {
      return { ok: true, warning: `no run has succeeded since ${lastGood?.begunAt.toISOString() ?? 'the start'}` };
    }
    return { ok: true };
  }

  return {
    check: { name: 'retention', check },
    async stop() {
      clearInterval(timer);
      stopped.abort();
      await running;
    },
  };
}

/** What the lines of the runs tell, of whatever process; while the database is unavailable the last known values stay. */
function measureRuns({ pool, metrics }: Platform): void {
  let reading: ReturnType<typeof readRuns> | undefined;
  const runs = (): ReturnType<typeof readRuns> => {
    reading ??= readRuns(pool)
      .catch(() => ({}))
      .finally(() => {
        reading = undefined;
      });
    return reading;
  };
  const gauge = (
    name: string,
    help: string,
    read: (told: Awaited<ReturnType<typeof readRuns>>) => number | undefined,
  ): void => {
    new Gauge({
      name,
      help,
      registers: [metrics],
      async collect() {
        const value = read(await runs());
        if (value !== undefined) this.set(value);
      },
    });
  };
  gauge(
    'verwerkingenlog_prune_last_success_timestamp_seconds',
    'When the last run of retention that succeeded began; 0: never',
    ({ lastGood }) => lastGood && lastGood.begunAt.getTime() / 1000,
  );
  gauge(
    'verwerkingenlog_prune_last_removed',
    'Actions that the last run of retention removed',
    ({ last }) => last?.removed,
  );
  gauge(
    'verwerkingenlog_kept_without_term',
    'Actions that have no term at all and are kept, as the last run that succeeded counted them',
    ({ lastGood }) => lastGood?.withoutTerm ?? undefined,
  );
}
