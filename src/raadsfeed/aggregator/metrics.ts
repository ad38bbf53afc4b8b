import type { Gauge, Registry } from 'prom-client';
import type { Db } from '../../database/transaction.ts';
import { createGauges } from '../../plugins/metrics.ts';
import { readSourceStates, type SourceState } from './store/sources.ts';

const GAUGES: readonly (readonly [name: string, help: string, value: (state: SourceState) => number | null])[] = [
  ['lag_seconds', 'Time since the source was last read to its end', ({ lagSeconds }) => lagSeconds],
  ['behind_records', 'Records of the source that were not yet read, as far as known', ({ behind }) => behind],
  ['failures', 'Consecutive failures of the source', ({ mislukt }) => mislukt],
  [
    'resources_refused',
    'Resources whose last record was refused: while there are any, the source is not up to date',
    ({ openGeweigerd }) => openGeweigerd,
  ],
  ['withheld_deletes', 'Deletes that wait for an operator', ({ achtergehouden }) => achtergehouden],
  ['issues', 'Open issues of the source', ({ meldingen }) => meldingen],
  [
    'coverage_percent',
    'Share of the resources of the supplier that the feed has, in per cent',
    ({ dekking }) => dekking,
  ],
];

/** Shown by every instance, because they are read from the database at each scrape. */
export function registerSourceMetrics(registry: Registry, db: Db): void {
  const gauge = createGauges(registry, 'aggregator', () => readSourceStates(db));
  for (const [name, help, value] of GAUGES) {
    const show = (shown: Gauge, states: readonly SourceState[]): void => {
      shown.reset();
      for (const state of states) {
        const number = value(state);
        if (number !== null) shown.set({ source: state.adres }, number);
      }
    };
    gauge(name, help, show, ['source']);
  }
}
