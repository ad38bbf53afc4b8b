/** The last hour of some figures, sampled from the metrics of this process: a ring of fixed size. */
import type { Registry } from 'prom-client';

/** Milliseconds between samples, and samples that are kept: an hour. */
export const SAMPLE_MS = 10_000;
const KEPT = 360;

interface Figure {
  readonly title: string;
  readonly unit: string;
  readonly metric: string;
  /** Name of the value within the metric, such as `x_count` of a histogram; absent: the metric's own name. */
  readonly value?: string;
  /**
   * `rate`: growth per second, over all labels; `level`: the value, at the label where it is largest; `mean`: the mean of a histogram's observations
   * since the last sample.
   */
  readonly kind: 'rate' | 'level' | 'mean';
  readonly scale?: number;
}

const WAITING = 'koppelvlak_database_pool_waiting';

const FIGURES: readonly Figure[] = [
  {
    ...{ title: 'Requests', unit: 'a second', kind: 'rate' },
    ...{ metric: 'koppelvlak_http_request_duration_seconds', value: 'koppelvlak_http_request_duration_seconds_count' },
  },
  { title: 'Log appends', unit: 'a second', kind: 'rate', metric: 'koppelvlak_verwerkingenlog_appends_total' },
  {
    ...{ title: 'Appends in one transaction, mean', unit: 'appends', kind: 'mean' },
    metric: 'koppelvlak_verwerkingenlog_group_size',
  },
  {
    ...{ title: 'Longest wait to be forwarded', unit: 's', kind: 'level' },
    metric: 'koppelvlak_ldv_forward_lag_seconds',
  },
  {
    ...{ title: 'Longest wait for a place in a proof log', unit: 's', kind: 'level' },
    metric: 'koppelvlak_proof_lateness_seconds',
  },
  { title: 'Deliveries', unit: 'a minute', kind: 'rate', scale: 60, metric: 'koppelvlak_gegevens_deliveries_total' },
  { title: 'Feed records', unit: 'a second', kind: 'rate', metric: 'koppelvlak_raadsfeed_head' },
  { title: 'Event loop lag, 99 %', unit: 'ms', kind: 'level', scale: 1000, metric: 'nodejs_eventloop_lag_p99_seconds' },
  { title: 'Memory', unit: 'MB', kind: 'level', scale: 1e-6, metric: 'process_resident_memory_bytes' },
  { title: 'Waiting for a connection', unit: 'requests', kind: 'level', metric: WAITING },
];

export interface Series extends Pick<Figure, 'title' | 'unit'> {
  readonly values: readonly number[];
}

/** The present value of one metric: over all its labels together, and at the label where it is largest. */
interface Reading {
  readonly sum: number;
  readonly most: number;
}

type Readings = ReadonlyMap<string, Reading>;

export type Samples = ReturnType<typeof createSamples>;

interface Sample {
  readonly readings: Readings;
  /** Milliseconds of a clock that only moves forward. */
  readonly at: number;
}

export function createSamples(metrics: Registry) {
  const kept = new Map<Figure, number[]>();
  let last: Sample | undefined;
  const read = async (): Promise<Sample> => ({ readings: await readAll(metrics), at: performance.now() });
  const add = (now: Sample): void => {
    for (const figure of FIGURES) {
      const value = figureNow(figure, now, last);
      if (value === undefined) continue;
      const values = kept.get(figure) ?? [];
      // A counter of another process, or a replaced feed, starts from zero.
      values.push(Math.max(0, value) * (figure.scale ?? 1));
      if (values.length > KEPT) values.shift();
      kept.set(figure, values);
    }
    last = now;
  };
  return {
    /** Adds a sample to each series; to be called every `SAMPLE_MS`. */
    take: async (): Promise<void> => add(await read()),
    /** Takes the first sample, unless there is one. */
    async begin(): Promise<void> {
      if (last === undefined) add(await read());
    },
    series: (): Series[] => [...kept].map(([{ title, unit }, values]) => ({ title, unit, values })),
    /** The latest sum over the labels of a metric, if this process has it. */
    latest: (metric: string): number | undefined => last?.readings.get(metric)?.sum,
  };
}

/** Undefined when this process does not have the figure. */
function figureNow(figure: Figure, now: Sample, before: Sample | undefined): number | undefined {
  const { metric, value = metric, kind } = figure;
  const growth = (name: string): number => {
    const sum = now.readings.get(name)?.sum ?? 0;
    return sum - (before?.readings.get(name)?.sum ?? sum);
  };
  if (kind === 'mean') {
    if (!now.readings.has(`${metric}_count`)) return undefined;
    const count = growth(`${metric}_count`);
    return count <= 0 ? 0 : growth(`${metric}_sum`) / count;
  }
  const reading = now.readings.get(value);
  if (reading === undefined) return undefined;
  if (kind === 'level') return reading.most;
  return before === undefined || now.at <= before.at ? 0 : growth(value) / ((now.at - before.at) / 1000);
}

async function readAll(metrics: Registry): Promise<Readings> {
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
