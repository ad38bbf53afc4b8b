import type { Registry } from 'prom-client';
import type { Pool } from '../database/pool.ts';
import type { ReadinessCheck } from '../lib/operations.ts';
import type { Clock } from '../lib/time.ts';
import { createGauges } from '../plugins/metrics.ts';
import { readRuns } from './store/retention.ts';

/** A nightly job may miss one. */
const LATE_MS = 2 * 86_400_000;

/** The runs of `log prune`, in any process, as metrics; the result is a readiness check that warns of a failed or missing run. */
export function watchRetention(pool: Pool, metrics: Registry, clock: Clock): ReadinessCheck {
  const started = clock.now();
  const gauge = createGauges(metrics, 'verwerkingenlog', () => readRuns(pool));
  gauge(
    'prune_last_success_timestamp_seconds',
    'When the last successful run of retention began, in any process; 0: never',
    (since, { lastSuccess }) => since.set((lastSuccess?.begunAt.getTime() ?? 0) / 1000),
  );
  gauge('prune_last_removed', 'Actions that the last run of retention removed', (removed, { last }) =>
    removed.set(last?.removed ?? 0),
  );
  gauge(
    'kept_without_term',
    'Actions without any term, which are kept, as the last successful run counted them',
    (kept, { lastSuccess }) => kept.set(lastSuccess?.withoutTerm ?? 0),
  );
  return {
    name: 'retention',
    vital: false,
    runbook: 'koppelvlakretentionlate',
    check: async () => {
      const { last, lastSuccess } = await readRuns(pool);
      if (last?.fault) return { ok: true, warning: `the last run failed: ${last.fault}` };
      const since = lastSuccess?.begunAt ?? started;
      if (clock.now().getTime() - since.getTime() <= LATE_MS) return { ok: true };
      return { ok: true, warning: `no run has succeeded since ${since.toISOString()}` };
    },
  };
}
