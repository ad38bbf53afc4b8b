import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import type { FastifyInstance } from 'fastify';
import fp from 'fastify-plugin';
import type { Gauge, Registry } from 'prom-client';
import type { Db } from '../../database/transaction.ts';
import type { OperatorSection } from '../../lib/operations.ts';
import { limitYoungGeneration } from '../../lib/scheduling.ts';
import { createGauges } from '../../plugins/metrics.ts';
import { openDependencies } from './dependencies.ts';
import { followSource } from './feed/follow-source.ts';
import { SUPPLIER_SCHEMES } from './source.ts';
import { readCompletenessOf, readSourceStates, type SourceState } from './store/sources.ts';
import { readSupplier } from './supplier/read-supplier.ts';
import { createScheduler, runSource } from './worker.ts';

/** More readers would only wait for calls. */
const SUPPLIERS_AT_ONCE = 2;

export const aggregator = fp(
  async (app: FastifyInstance) => {
    const { settings: config, log, stopping, clock, database, publicBaseUrl, proof } = app;
    const { concurrency, leaseSeconds } = config.aggregator;
    const { pool } = database;
    const deps = openDependencies({ config, database, clock, log, publicBaseUrl, proof });
    const schedulers = (['feed', ...SUPPLIER_SCHEMES] as const).map((kind) =>
      createScheduler({
        pool,
        log,
        kind,
        leaseSeconds,
        stopping,
        holder: `${hostname()} ${process.pid} ${randomUUID()}`,
        concurrency: kind === 'feed' ? concurrency : SUPPLIERS_AT_ONCE,
        run: (lease, signal) => runSource(lease, kind === 'feed' ? followSource : readSupplier, deps, signal),
      }),
    );
    app.addHook('onListen', async () => {
      limitYoungGeneration();
      for (const scheduler of schedulers) scheduler.start();
    });
    app.addHook('onClose', async () => {
      await Promise.all(schedulers.map((scheduler) => scheduler.close()));
      await deps.close();
    });
    registerSourceMetrics(app.metrics, pool);
    app.operatorPage.push(sourcesSection(pool));
    app.feed.completenessOf = (organisatiecode) => readCompletenessOf(pool, organisatiecode);
  },
  { name: 'aggregator', dependencies: ['raadsfeed'] },
);

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
function registerSourceMetrics(registry: Registry, db: Db): void {
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

/** Failing sources first, then those furthest behind. */
const MOST_SHOWN = 100;

function sourcesSection(db: Db): OperatorSection {
  return {
    title: 'Sources',
    read: async () => {
      const states = (await readSourceStates(db)).toSorted(
        (a, b) => Number(b.mislukt > 0) - Number(a.mislukt > 0) || b.lagSeconds - a.lagSeconds,
      );
      return {
        columns: ['source', 'state', 'read to its end', 'records behind', 'completeness', 'last fault'],
        rows: states.slice(0, MOST_SHOWN).map((state) => [
          // Credentials and queries of an address must not be shown.
          state.adres.replace(/[?#].*/, '').replace(/\/\/[^/@]*@/, '//'),
          state.toestand === 'actief' ? 'active' : 'paused',
          state.bijgewerkt ?? 'never',
          state.behind ?? 'not known',
          completeness(state),
          state.mislukt === 0
            ? ''
            : `${state.fout ?? 'unknown'} (failures: ${state.mislukt}, since ${state.foutSinds?.toISOString() ?? 'unknown'})`,
        ]),
      };
    },
  };
}

function completeness({ dekking, openGeweigerd, achtergehouden, meldingen }: SourceState): string {
  const parts = [
    dekking !== null && `${dekking} % of what the supplier shows`,
    openGeweigerd > 0 && `resources refused: ${openGeweigerd}`,
    achtergehouden > 0 && `deletes withheld: ${achtergehouden}`,
    meldingen > 0 && `open issues: ${meldingen}`,
  ];
  return parts.filter((part) => part !== false).join(', ') || 'nothing missing that is known';
}
