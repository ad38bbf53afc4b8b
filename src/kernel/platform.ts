import type { Pool } from 'pg';
import { Registry } from 'prom-client';
import { type Clock, systemClock } from './clock.ts';
import type { Config } from './config/read-config.ts';
import type { Listener } from './database/listen.ts';
import { openDatabase, type PoolShare } from './database/open-database.ts';
import type { Logger } from './log.ts';
import type { ReadinessCheck } from './readiness.ts';

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
