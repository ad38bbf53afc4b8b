import type { Pool } from 'pg';
import { collectDefaultMetrics, Gauge, Registry } from 'prom-client';
import type { Config } from './config/read-config.ts';
import type { Listener } from './database/listen.ts';
import { openDatabase, type PoolShare } from './database/open-database.ts';
import type { Logger } from './log.ts';
import { type Clock, systemClock } from './time.ts';

/** What every part of the program can be given. */
export interface Platform {
  readonly config: Config;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Registry;
  /**
   * As a role that can append to the processing log but not change it. Of an area it is that area's own share of the connections; of a
   * command, and of what the process itself asks, all else.
   */
  readonly pool: Pool;
  /** The shares that areas get as their `pool`: one area cannot take the connections of another. */
  readonly shares: Readonly<Record<PoolShare, Pool>>;
  /** For reads of the feed, on the primary. */
  readonly readPool: Pool;
  /** For reads of the feed, on the replica, when there is one: it may be behind, or away. */
  readonly replicaPool: Pool | undefined;
  /** As `pool`, but statements of one connection are sent without waiting: no COPY and no cursors. */
  readonly pipelinePool: Pool;
  /** As the role that may remove what is past its retention; connects only when it is used. */
  readonly prunePool: Pool;
  readonly listener: Listener;
  /** Address that clients see, without a trailing slash. With port 0 it is known only after listening. */
  readonly publicBaseUrl: () => string;
  /** Fires when the process begins to stop: streams and waiting loops end on it. */
  readonly stopping: AbortSignal;
}

/** A platform together with what only its owner may do. */
export interface OpenPlatform {
  readonly platform: Platform;
  /** What an operator must know of the database. */
  readonly checks: readonly ReadinessCheck[];
  /** Address of the database as its owner, for migrations and for telling others (secret). */
  readonly ownerUrl: string;
  /** Sets the address that clients see, unless the configuration names one. */
  readonly listensOn: (url: string) => void;
  /** Settles when the database that this process started has ended, asked or not. */
  readonly databaseExited: Promise<void>;
  /** Fires `stopping`. */
  readonly beginStop: () => void;
  /** Gives everything back, last opened first. */
  readonly close: () => Promise<void>;
}

export interface PlatformOptions {
  readonly config: Config;
  readonly log: Logger;
  readonly clock?: Clock;
  readonly purpose: 'service' | 'command';
  /** The role that the login must be able to act as; default `service`. With `retention` only `prunePool` may be used. */
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
  const database = await openDatabase({ config, log, clock, purpose, role });
  const stopping = new AbortController();
  let baseUrl = config.server.publicBaseUrl;
  const platform: Platform = {
    config,
    clock,
    log,
    metrics: new Registry(),
    pool: database.pool,
    shares: database.shares,
    readPool: database.readPool,
    replicaPool: database.replicaPool,
    pipelinePool: database.pipelinePool,
    prunePool: database.prunePool,
    listener: database.listener,
    publicBaseUrl: () => baseUrl ?? `http://${config.server.host}:${config.server.port}`,
    stopping: stopping.signal,
  };
  return {
    platform,
    ownerUrl: database.ownerUrl,
    checks: database.checks,
    databaseExited: database.exited,
    listensOn: (url) => {
      baseUrl = config.server.publicBaseUrl ?? url;
    },
    beginStop: () => stopping.abort(),
    close: database.close,
  };
}

/** What a look at one condition found; texts are for operators. A warning still counts as right. */
export interface ReadinessResult {
  readonly ok: boolean;
  readonly detail?: string;
  readonly warning?: string;
}

/** One thing that an operator must know of. Not `ok` takes the process out of service: only for what leaves nothing to serve. */
export interface ReadinessCheck {
  readonly name: string;
  /** False: when the check itself fails or takes too long, that is a warning. Default true. */
  readonly vital?: boolean;
  readonly check: () => Promise<ReadinessResult>;
}

/** Measures the process itself (processor, memory, event loop) under their usual names, and the pools of connections. */
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
    name: 'database_pool_connections',
    help: 'Connections of each share: all there are, and those that lie idle',
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
    name: 'database_pool_waiting',
    help: 'Callers that wait for a connection of each share',
    labelNames: ['pool'],
    registers: [metrics],
    collect() {
      for (const [pool, { waitingCount }] of pools) this.set({ pool }, waitingCount);
    },
  });
}
