import { Gauge, type Registry } from 'prom-client';

export interface FeedGauges {
  /** The highest number that this process knows; `undefined` before the first look. */
  readonly head: () => number | undefined;
  readonly streams: () => number;
  readonly cacheBytes: () => number;
}

/** Shows an operator how the feed of this process stands; looked up when the metrics are asked for. */
export function measureFeed(metrics: Registry, { head, streams, cacheBytes }: FeedGauges): void {
  gauge(metrics, 'raadsfeed_head', 'Highest sequence number that this process knows', () => head() ?? 0);
  gauge(metrics, 'raadsfeed_streams', 'Streams that are open on this process', streams);
  gauge(metrics, 'raadsfeed_cache_bytes', 'Memory that pages and answers take on this process', cacheBytes);
}

function gauge(metrics: Registry, name: string, help: string, value: () => number): void {
  new Gauge({
    name,
    help,
    registers: [metrics],
    collect() {
      this.set(value());
    },
  });
}
