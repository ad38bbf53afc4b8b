/** Dependencies of following sources, made from the configuration, for the service and its commands. */

import type { Pool } from '../../database/pool.ts';
import type { Logger } from '../../lib/log.ts';
import { createOutboundClient, type OutboundClient } from '../../lib/outbound/outbound-client.ts';
import type { Clock } from '../../lib/time.ts';
import type { ProofWriter, ProofWriterOf } from '../../proof/proof-log.ts';
import type { Config } from '../../settings/read-config.ts';
import { createLineValidator, type LineValidator } from '../writer/line-validator.ts';
import { createGo } from './go/api.ts';
import { IbabsClient } from './ibabs/calls.ts';
import { createIbabs } from './ibabs/supplier.ts';
import { createNotubizAdapter } from './notubiz/supplier.ts';
import { createParlaeus } from './parlaeus/api.ts';
import type { SupplierScheme } from './source.ts';
import { createCallSlots } from './store/call-slots.ts';
import { createAdapter, type SourceAdapter } from './supplier/read-listed-window.ts';

export interface AggregatorDependencies
  extends Pick<
    Config['aggregator'],
    'maxAnswerBytes' | 'maxSnapshotRecords' | 'pollMs' | 'backoffMs' | 'backoffMaxMs'
  > {
  readonly pool: Pool;
  readonly clock: Clock;
  readonly log: Logger;
  readonly proof?: ProofWriter | undefined;
  readonly client: OutboundClient;
  readonly validate: LineValidator;
  /** By the published draft instead of our contract: for records of other feeds. */
  readonly validateDraft: LineValidator;
  /** Address of this feed: records that originated here are not accepted back. */
  readonly ownFeedUrl: () => string;
}

export interface SupplierDependencies extends AggregatorDependencies {
  readonly adapters: Readonly<Record<SupplierScheme, SourceAdapter>>;
  /** Milliseconds between quick readings of the current windows. */
  readonly quickAgainMs: number;
  /** Milliseconds in which the whole history is read again. */
  readonly fullAgainMs: number;
}

export interface DependencyNeeds extends Pick<AggregatorDependencies, 'pool' | 'clock' | 'log'> {
  readonly config: Pick<Config, 'aggregator' | 'raadsfeed' | 'server'>;
  readonly publicBaseUrl: () => string;
  readonly proof: ProofWriterOf;
}

export function openDependencies(needs: DependencyNeeds): SupplierDependencies {
  const { config, pool, clock, log, publicBaseUrl, proof } = needs;
  const { aggregator, raadsfeed, server } = config;
  const { callSlotSeconds: slotSeconds, ibabsCallsPerMinute: perMinute, maxAnswerBytes: maxBytes } = aggregator;
  const { sourcesAllowPrivate: allowPrivate } = raadsfeed;
  const shared = { clock, proxy: server };
  // All calls to a supplier, or to a host of one, share its slots.
  const slots = (supplier: string) => createCallSlots(pool, supplier, { atOnce: 4, slotSeconds }, log);
  const hosted = (scheme: SupplierScheme) => ({
    ...{ ...shared, allowPrivate, maxBytes },
    slots: (host: string) => slots(`${scheme} ${host}`),
  });
  const ibabs = new IbabsClient({
    ...{ ...shared, allowPrivate, base: aggregator.ibabsUrl },
    slots: createCallSlots(pool, 'ibabs', { atOnce: 2, slotSeconds, perMinute }, log),
  });
  return {
    ...aggregator,
    pool,
    clock,
    log,
    proof: proof('raadsfeed'),
    client: createOutboundClient({
      ...{ ...shared, allowPrivate, maxBytes },
      timeoutMs: raadsfeed.sourcesTimeoutMs,
      connections: 4,
      traceContextTo: server.traceContextTo,
    }),
    validate: createLineValidator(),
    validateDraft: createLineValidator('draft'),
    ownFeedUrl: () => `${publicBaseUrl()}${raadsfeed.prefix}/feed`,
    adapters: {
      notubiz: createNotubizAdapter({
        ...{ ...shared, base: aggregator.notubizUrl, categories: aggregator.notubizWooCategories },
        slots: slots('notubiz'),
      }),
      ibabs: createAdapter(createIbabs(ibabs), clock),
      go: createAdapter(createGo(hosted('go')), clock),
      parlaeus: createAdapter(createParlaeus(hosted('parlaeus')), clock),
    },
    quickAgainMs: aggregator.notubizQuickMinutes * 60_000,
    fullAgainMs: aggregator.notubizFullHours * 3_600_000,
  };
}

export async function withDependencies<T>(
  needs: DependencyNeeds,
  work: (deps: SupplierDependencies) => Promise<T>,
): Promise<T> {
  const deps = openDependencies(needs);
  try {
    return await work(deps);
  } finally {
    await closeDependencies(deps);
  }
}

export async function closeDependencies({ client, adapters }: SupplierDependencies): Promise<void> {
  await Promise.all([client.close(), ...Object.values(adapters).map((adapter) => adapter.close())]);
}
