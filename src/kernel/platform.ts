import type { Pool } from 'pg';
import { Registry } from 'prom-client';
import { type Clock, systemClock } from './clock.ts';
import type { Config } from './config/read-config.ts';
import type { Listener } from './database/listen.ts';
import { openDatabase } from './database/open-database.ts';
import type { Logger } from './log.ts';

/** What every part of the program can be given. */
export interface Platform {
  readonly config: Config;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Registry;
  /** The service's pool: a role that can append to the processing log but not change it. */
  readonly pool: Pool;
  /** For reads of the feed, of a replica when there is one. */
  readonly readPool: Pool;
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
}

/**
 * Opens the database (embedded when none is configured), migrates it when configured so, and joins the parts.
 * @throws {Error} with a message for operators when the database cannot be opened or migrated
 */
export async function openPlatform({
  config,
  log,
  clock = systemClock,
  purpose,
}: PlatformOptions): Promise<OpenPlatform> {
  const database = await openDatabase({ config, log, purpose });
  const stopping = new AbortController();
  let baseUrl = config.server.publicBaseUrl;
  const platform: Platform = {
    config,
    clock,
    log,
    metrics: new Registry(),
    pool: database.pool,
    readPool: database.readPool,
    pipelinePool: database.pipelinePool,
    prunePool: database.prunePool,
    listener: database.listener,
    publicBaseUrl: () => baseUrl ?? `http://${config.server.host}:${config.server.port}`,
    stopping: stopping.signal,
  };
  return {
    platform,
    ownerUrl: database.ownerUrl,
    databaseExited: database.exited,
    listensOn: (url) => {
      baseUrl = config.server.publicBaseUrl ?? url;
    },
    beginStop: () => stopping.abort(),
    close: database.close,
  };
}
