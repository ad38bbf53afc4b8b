/** Dependencies of following sources, made from the configuration, for the service and its commands. */

import type { Pool } from '../../database/pool.ts';
import type { Logger } from '../../lib/log.ts';
import { createOutboundClient } from '../../lib/outbound/outbound-client.ts';
import type { Clock } from '../../lib/time.ts';
import type { ProofWriterOf } from '../../proof/proof-log.ts';
import type { Config } from '../../settings/read-config.ts';
import { createLineValidator } from '../writer/line-validator.ts';
import { createGo } from './go/api.ts';
import { IbabsClient } from './ibabs/calls.ts';
import { createIbabs } from './ibabs/supplier.ts';
import { createNotubizAdapter } from './notubiz/supplier.ts';
import { createParlaeus } from './parlaeus/api.ts';
import type { SupplierScheme } from './source.ts';
import { createCallSlots } from './store/call-slots.ts';
import { createAdapter, type SourceAdapter } from './supplier/read-listed-window.ts';

export type Dependencies = ReturnType<typeof openDependencies>;

export interface DependencyNeeds {
  readonly database: { readonly pool: Pool };
  readonly clock: Clock;
  readonly log: Logger;
  readonly config: Pick<Config, 'aggregator' | 'raadsfeed' | 'server'>;
  readonly publicBaseUrl: () => string;
  readonly proof: ProofWriterOf;
}

export function openDependencies({ config, database, clock, log, publicBaseUrl, proof }: DependencyNeeds) {
  const { pool } = database;
  const { aggregator, raadsfeed, server } = config;
  const { callSlotSeconds: slotSeconds, ibabsCallsPerMinute: perMinute, maxAnswerBytes: maxBytes } = aggregator;
  const { sourcesAllowPrivate: allowPrivate } = raadsfeed;
  const shared = { clock, proxy: server };
  // All calls to a supplier, or to a host of one, share its slots.
  const slots = (supplier: string) => createCallSlots(pool, supplier, { atOnce: 4, slotSeconds }, log);
  const hosted = (scheme: SupplierScheme) => ({
    ...shared,
    allowPrivate,
    maxBytes,
    slots: (host: string) => slots(`${scheme} ${host}`),
  });
  const ibabs = new IbabsClient({
    ...shared,
    allowPrivate,
    base: aggregator.ibabsUrl,
    slots: createCallSlots(pool, 'ibabs', { atOnce: 2, slotSeconds, perMinute }, log),
  });
  const client = createOutboundClient({
    ...shared,
    allowPrivate,
    maxBytes,
    timeoutMs: raadsfeed.sourcesTimeoutMs,
    connections: 4,
    traceContextTo: server.traceContextTo,
  });
  const adapters: Readonly<Record<SupplierScheme, SourceAdapter>> = {
    notubiz: createNotubizAdapter({
      ...shared,
      base: aggregator.notubizUrl,
      categories: aggregator.notubizWooCategories,
      slots: slots('notubiz'),
    }),
    ibabs: createAdapter(createIbabs(ibabs), clock),
    go: createAdapter(createGo(hosted('go')), clock),
    parlaeus: createAdapter(createParlaeus(hosted('parlaeus')), clock),
  };
  return {
    ...aggregator,
    pool,
    clock,
    log,
    client,
    adapters,
    proof: proof('raadsfeed'),
    validate: createLineValidator(),
    /** By the published draft instead of our contract: for records of other feeds. */
    validateDraft: createLineValidator('draft'),
    /** Address of this feed: records that originated here are not accepted back. */
    ownFeedUrl: () => `${publicBaseUrl()}${raadsfeed.prefix}/feed`,
    quickAgainMs: aggregator.notubizQuickMinutes * 60_000,
    fullAgainMs: aggregator.notubizFullHours * 3_600_000,
    close: async () => {
      await Promise.all([client, ...Object.values(adapters)].map((one) => one.close()));
    },
  };
}

export async function withDependencies<T>(
  needs: DependencyNeeds,
  work: (deps: Dependencies) => Promise<T>,
): Promise<T> {
  const deps = openDependencies(needs);
  try {
    return await work(deps);
  } finally {
    await deps.close();
  }
}
