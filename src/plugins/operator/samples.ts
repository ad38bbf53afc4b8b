/** The last hour of some figures, sampled from the metrics of this process: a ring of fixed size. */
import type { Registry } from 'prom-client';

/** Milliseconds between samples, and samples that are kept: an hour. */
export const SAMPLE_MS = 10_000;
const KEPT = 360;

/** `rate`: growth per second over all labels; `level`: the largest of its labels; `mean`: of a histogram's observations since the last sample. */
type Figure = readonly [title: string, unit: string, kind: 'rate' | 'level' | 'mean', metric: string, scale?: number];

const WAITING = 'koppelvlak_database_pool_waiting';

const FIGURES: readonly Figure[] = [
  ['Requests', 'a second', 'rate', 'koppelvlak_http_request_duration_seconds_count'],
  ['Log appends', 'a second', 'rate', 'koppelvlak_verwerkingenlog_appends_total'],
  ['Appends in one transaction, mean', 'appends', 'mean', 'koppelvlak_verwerkingenlog_group_size'],
  ['Longest wait to be forwarded', 's', 'level', 'koppelvlak_ldv_forward_lag_seconds'],
  ['Longest wait for a place in a proof log', 's', 'level', 'koppelvlak_proof_lateness_seconds'],
  ['Deliveries', 'a minute', 'rate', 'koppelvlak_gegevens_deliveries_total', 60],
  ['Feed records', 'a second', 'rate', 'koppelvlak_raadsfeed_head'],
  ['Event loop lag, 99 %', 'ms', 'level', 'nodejs_eventloop_lag_p99_seconds', 1000],
  ['Memory', 'MB', 'level', 'process_resident_memory_bytes', 1e-6],
  ['Waiting for a connection', 'requests', 'level', WAITING],
];

interface Reading {
  readonly sum: number;
  readonly most: number;
}

interface Sample {
  readonly readings: ReadonlyMap<string, Reading>;
  readonly at: number;
}

export type Samples = ReturnType<typeof createSamples>;
export type Series = ReturnType<Samples['series']>[number];

export function createSamples(metrics: Registry) {
  const kept = new Map<Figure, number[]>();
  let last: Sample | undefined;
  const take = async (): Promise<void> => {
    const now = { readings: await readAll(metrics), at: performance.now() };
    for (const figure of FIGURES) {
      const value = figureNow(figure, now, last);
      if (value === undefined) continue;
      const values = kept.get(figure) ?? [];
      const [, , , , scale = 1] = figure;
      // A counter of another process, or a replaced feed, starts from zero.
      values.push(Math.max(0, value) * scale);
      if (values.length > KEPT) values.shift();
      kept.set(figure, values);
    }
    last = now;
  };
  return {
    take,
    async begin(): Promise<void> {
      if (last === undefined) await take();
    },
    series: () => [...kept].map(([[title, unit], values]) => ({ title, unit, values })),
    latest: (metric: string): number | undefined => last?.readings.get(metric)?.sum,
  };
}

/** Undefined when this process does not have the figure. */
function figureNow([, , kind, metric]: Figure, now: Sample, before: Sample | undefined): number | undefined {
  const growth = (name: string): number => {
    const sum = now.readings.get(name)?.sum ?? 0;
    return sum - (before?.readings.get(name)?.sum ?? sum);
  };
  if (kind === 'mean') {
    if (!now.readings.has(`${metric}_count`)) return undefined;
    const count = growth(`${metric}_count`);
    return count <= 0 ? 0 : growth(`${metric}_sum`) / count;
  }
  const reading = now.readings.get(metric);
  if (reading === undefined) return undefined;
  if (kind === 'level') return reading.most;
  return before === undefined || now.at <= before.at ? 0 : growth(metric) / ((now.at - before.at) / 1000);
}

/** By the names of their values: `x_count` of a histogram. */
async function readAll(metrics: Registry): Promise<Sample['readings']> {
  const readings = new Map<string, Reading>();
  const found = await Promise.all(
    // One by one, because a metric that is read from an unavailable database must not hide the others.
    metrics.getMetricsAsArray().map(({ name }) =>
      metrics
        .getSingleMetric(name)
        ?.get()
        .catch(() => undefined),
    ),
  );
  for (const { name, values } of found.filter((metric) => metric !== undefined)) {
    for (const one of values) {
      // Background work, checks and this page serve no request.
      if (name === WAITING && 'pool' in one.labels && one.labels.pool === 'background') continue;
      const part = 'metricName' in one && typeof one.metricName === 'string' ? one.metricName : name;
      const { sum, most } = readings.get(part) ?? { sum: 0, most: 0 };
      readings.set(part, { sum: sum + one.value, most: Math.max(most, one.value) });
    }
  }
  return readings;
}
