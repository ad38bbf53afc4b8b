import { Counter, Gauge, type Registry } from 'prom-client';
import type { Db } from '../../database/transaction.ts';
import { readSourceStates, type SourceState } from './store/sources.ts';

export interface AggregatorMetrics {
  /** Runs of sources, by result. */
  readonly runs: Counter<'result'>;
}

/** Metrics of the aggregator. Those of each source are read from the database when they are scraped, from any instance. */
export function createAggregatorMetrics(registry: Registry, db: Db): AggregatorMetrics {
  let reading: Promise<SourceState[]> | undefined;
  // All gauges are collected at the same moment: one query serves them all.
  const states = (): Promise<SourceState[]> => {
    reading ??= readSourceStates(db).finally(() => {
      reading = undefined;
    });
    return reading;
  };
  const perSource = (name: string, help: string, value: (state: SourceState) => number | null): void => {
    new Gauge({
      name: `koppelvlak_aggregator_${name}`,
      help,
      labelNames: ['source'],
      registers: [registry],
      async collect() {
        const found = await states();
        this.reset();
        for (const state of found) {
          const number = value(state);
          if (number !== null) this.set({ source: state.adres }, number);
        }
      },
    });
  };
  perSource('lag_seconds', 'Time since the source was last read to its end.', ({ lagSeconds }) => lagSeconds);
  perSource('behind_records', 'Records of the source that were not yet read, as far as known.', ({ behind }) => behind);
  perSource('failures', 'Consecutive failures of the source.', ({ mislukt }) => mislukt);
  perSource('records_read', 'Records read from the source since it was added.', ({ gelezen }) => gelezen);
  perSource('records_refused', 'Records of the source that were refused.', ({ geweigerd }) => geweigerd);
  perSource(
    'resources_refused',
    'Resources whose last record was refused: while there are any, the source is not up to date.',
    ({ openGeweigerd }) => openGeweigerd,
  );
  perSource('withheld_deletes', 'Deletes that wait for an operator.', ({ achtergehouden }) => achtergehouden);
  perSource('issues', 'Open issues of the source.', ({ meldingen }) => meldingen);
  perSource(
    'issues_dropped',
    'Issues dropped to keep room for newer ones.',
    ({ meldingenWeggelaten }) => meldingenWeggelaten,
  );
  perSource('coverage_percent', 'What the feed has of what the supplier shows.', ({ dekking }) => dekking);
  return {
    runs: new Counter({
      name: 'koppelvlak_aggregator_turns_total',
      help: 'Runs of sources, by result.',
      labelNames: ['result'],
      registers: [registry],
    }),
  };
}
