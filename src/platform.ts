import { collectDefaultMetrics, Gauge, Registry } from 'prom-client';
import { type DatabasePools, openDatabase } from './database/open-database.ts';
import type { Logger } from './lib/log.ts';
import { type Clock, systemClock } from './lib/time.ts';
import type { ForwardPolicy } from './seams/processing-log.ts';
import type { ProofWriters } from './seams/proof-log.ts';
import { loadStoreHooks } from './seams/store-hooks.ts';
import type { Config } from './settings/read-config.ts';

/** What every part of the program may depend on. */
export interface Platform extends DatabasePools {
  readonly config: Config;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Registry;
  /** Address that clients see, without a trailing slash. With port 0 it is known only after listening. */
  readonly publicBaseUrl: () => string;
  /** The proof logs that are switched on. */
  readonly proof: ProofWriters;
  /** What of the processing log is forwarded. */
  readonly forward: ForwardPolicy;
  /** Fires when the process begins to stop: streams and waiting loops end on it. */
  readonly stopping: AbortSignal;
}

/** A platform, and what only its owner may do with it. */
export interface OpenPlatform {
  readonly platform: Platform;
  /** Readiness checks of the database. */
  readonly checks: readonly ReadinessCheck[];
  /** Address of the database as its owner, for migrations (secret). */
  readonly ownerUrl: string;
  /** Sets the address that clients see, unless the configuration names one. */
  readonly listensOn: (url: string) => void;
  /** Settles when the database that this process started has ended, for whatever reason. */
  readonly databaseExited: Promise<void>;
  /** @throws {ConfigError} for a key that is not the one of this database */
  readonly requireRightKeys: () => Promise<void>;
  /** Fires `stopping`. */
  readonly beginStop: () => void;
  /** Releases everything, last opened first. */
  readonly close: () => Promise<void>;
}

export interface PlatformOptions {
  readonly config: Config;
  readonly log: Logger;
  readonly clock?: Clock;
  readonly purpose: 'service' | 'command';
  /** The role that the login must be able to act as; default `service`. With `retention` only `prunePool` can be used. */
  readonly role?: 'service' | 'retention' | undefined;
}

/**
 * Opens the database (embedded when none is configured) and joins the parts; a service migrates it when configured so.
 * @throws {Error} with a message for operators when the database cannot be opened or migrated
 */
export async function openPlatform({
  config,
  log,
  clock = systemClock,
  purpose,
  role,
}: PlatformOptions): Promise<OpenPlatform> {
  const hooks = await loadStoreHooks();
  const { pools, checks, ownerUrl, exited, close } = await openDatabase({ config, log, clock, purpose, role });
  const stopping = new AbortController();
  let baseUrl = config.server.publicBaseUrl;
  const metrics = new Registry();
  const { organisation } = config.server;
  if (organisation !== undefined) metrics.setDefaultLabels({ organisation });
  const platform: Platform = {
    config,
    clock,
    log,
    metrics,
    ...pools,
    publicBaseUrl: () => baseUrl ?? `http://${config.server.host}:${config.server.port}`,
    proof: hooks.proofWriters?.(config) ?? (() => undefined),
    forward: hooks.forwardPolicy?.(config),
    stopping: stopping.signal,
  };
  return {
    platform,
    ownerUrl,
    checks,
    databaseExited: exited,
    listensOn: (url) => {
      baseUrl = config.server.publicBaseUrl ?? url;
    },
    requireRightKeys: async () => hooks.requireRightKey?.(role === 'retention' ? pools.prunePool : pools.pool, config),
    beginStop: () => stopping.abort(),
    close,
  };
}

/** The result of a check, with texts for operators. A warning still counts as ok. */
export interface ReadinessResult {
  readonly ok: boolean;
  readonly detail?: string;
  readonly warning?: string;
}

/** A readiness check. A result that is not `ok` takes the process out of service: only for what leaves nothing to serve. */
export interface ReadinessCheck {
  readonly name: string;
  /** False: a check that fails or takes too long gives a warning only. Default true. */
  readonly vital?: boolean;
  readonly check: () => Promise<ReadinessResult>;
}

/** What a cell of the operator's page shows; a moment is shown with how long ago it was. */
export type OperatorCell = string | number | Date;

/** A part of the operator's page that an area gives: a table of words, without secrets and without personal data. */
export interface OperatorSection {
  readonly title: string;
  /** Reads it now; one that fails or takes too long is shown with the reason instead. */
  readonly read: () => Promise<{
    readonly columns: readonly string[];
    readonly rows: readonly (readonly OperatorCell[])[];
  }>;
}

/** Measures the process (processor, memory, event loop) under the usual names, and the connection pools. */
export function measureProcess(platform: Platform): void {
  const { metrics } = platform;
  collectDefaultMetrics({ register: metrics });
  const pools = Object.entries({
    own: platform.pool,
    ...platform.shares,
    'verwerkingenlog-reads': platform.pipelinePool,
    'raadsfeed-reads': platform.readPool,
    ...(platform.replicaPool === undefined ? {} : { 'raadsfeed-replica': platform.replicaPool }),
    retention: platform.prunePool,
  });
  new Gauge({
    name: 'koppelvlak_database_pool_connections',
    help: 'Connections of each share: in total, and idle',
    labelNames: ['pool', 'state'],
    registers: [metrics],
    collect() {
      for (const [pool, { totalCount, idleCount }] of pools) {
        this.set({ pool, state: 'total' }, totalCount);
        this.set({ pool, state: 'idle' }, idleCount);
      }
    },
  });
  new Gauge({
    name: 'koppelvlak_database_pool_waiting',
    help: 'Callers that wait for a connection of each share',
    labelNames: ['pool'],
    registers: [metrics],
    collect() {
      for (const [pool, { waitingCount }] of pools) this.set({ pool }, waitingCount);
    },
  });
}
