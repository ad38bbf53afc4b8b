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
  /** `rate`: how much it grows a second. */
  readonly kind: 'rate' | 'level';
  readonly scale?: number;
}

const FIGURES: readonly Figure[] = [
  {
    ...{ title: 'Requests', unit: 'a second', kind: 'rate' },
    ...{ metric: 'koppelvlak_http_request_duration_seconds', value: 'koppelvlak_http_request_duration_seconds_count' },
  },
  { title: 'Log appends', unit: 'a second', kind: 'rate', metric: 'koppelvlak_verwerkingenlog_appends_total' },
  { title: 'Deliveries', unit: 'a minute', kind: 'rate', scale: 60, metric: 'koppelvlak_gegevens_deliveries_total' },
  { title: 'Feed records', unit: 'a second', kind: 'rate', metric: 'koppelvlak_raadsfeed_head' },
  { title: 'Event loop lag, 99 %', unit: 'ms', kind: 'level', scale: 1000, metric: 'nodejs_eventloop_lag_p99_seconds' },
  { title: 'Memory', unit: 'MB', kind: 'level', scale: 1e-6, metric: 'process_resident_memory_bytes' },
  { title: 'Waiting for a connection', unit: 'requests', kind: 'level', metric: 'koppelvlak_database_pool_waiting' },
];

export interface Series extends Pick<Figure, 'title' | 'unit'> {
  /** Oldest first, `SAMPLE_MS` apart. */
  readonly values: readonly number[];
}

/** Sums of the values of one metric over its labels, by name of the value. */
type Sums = ReadonlyMap<string, number>;

export interface Samples {
  take(): Promise<void>;
  /** Figures that this process has. */
  readonly series: () => Series[];
  /** The newest sums of all metrics. */
  readonly latest: () => Sums;
}

export function createSamples(metrics: Registry): Samples {
  const kept = new Map<Figure, number[]>();
  let before: { readonly sums: Sums; readonly at: number } | undefined;
  return {
    async take() {
      const sums = await readSums(metrics);
      const at = performance.now();
      for (const figure of FIGURES) {
        const name = figure.value ?? figure.metric;
        const now = sums.get(name);
        const old = before?.sums.get(name);
        if (now === undefined) continue;
        const seconds = before === undefined ? 0 : (at - before.at) / 1000;
        const value = figure.kind === 'level' ? now : old === undefined || seconds === 0 ? 0 : (now - old) / seconds;
        const values = kept.get(figure) ?? [];
        // A counter of another process, or a feed that was replaced, begins anew.
        values.push(Math.max(0, value) * (figure.scale ?? 1));
        if (values.length > KEPT) values.shift();
        kept.set(figure, values);
      }
      before = { sums, at };
    },
    series: () => [...kept].map(([{ title, unit }, values]) => ({ title, unit, values })),
    latest: () => before?.sums ?? new Map<string, number>(),
  };
}

async function readSums(metrics: Registry): Promise<Sums> {
  const sums = new Map<string, number>();
  const found = await Promise.all(
    // One by one: a metric that is read from a database which is away must not hide the others.
    metrics.getMetricsAsArray().map(({ name }) =>
      metrics
        .getSingleMetric(name)
        ?.get()
        .catch(() => undefined),
    ),
  );
  for (const { name, values } of found.filter((metric) => metric !== undefined)) {
    for (const one of values) {
      const part = 'metricName' in one && typeof one.metricName === 'string' ? one.metricName : name;
      sums.set(part, (sums.get(part) ?? 0) + one.value);
    }
  }
  return sums;
}
