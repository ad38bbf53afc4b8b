import { Gauge, type Registry } from 'prom-client';
import type { Pool } from '../database/pool.ts';
import type { ReadinessCheck } from '../seams/operations.ts';
import { type RetentionRuns, readRuns } from './store/retention.ts';

/** The runs of `log prune`, in whatever process, in metrics; the result is a readiness check that warns of a run that failed. */
export function watchRetention(pool: Pool, metrics: Registry): ReadinessCheck {
  const gauge = (name: string, help: string, value: (runs: RetentionRuns) => number): void => {
    new Gauge({
      name: `koppelvlak_verwerkingenlog_${name}`,
      help,
      registers: [metrics],
      async collect() {
        // While the database is away, what was read last is still true.
        const runs = await readRuns(pool).catch(() => undefined);
        if (runs !== undefined) this.set(value(runs));
      },
    });
  };
  gauge(
    'prune_last_success_timestamp_seconds',
    'When the last successful run of retention began, in any process; 0: never',
    ({ lastSuccess }) => (lastSuccess?.begunAt.getTime() ?? 0) / 1000,
  );
  gauge('prune_last_removed', 'Actions that the last run of retention removed', ({ last }) => last?.removed ?? 0);
  gauge(
    'kept_without_term',
    'Actions without any term, which are kept, as the last successful run counted them',
    ({ lastSuccess }) => lastSuccess?.withoutTerm ?? 0,
  );
  return {
    name: 'retention',
    vital: false,
    check: async () => {
      const { last } = await readRuns(pool);
      return last?.fault ? { ok: true, warning: `the last run failed: ${last.fault}` } : { ok: true };
    },
  };
}
