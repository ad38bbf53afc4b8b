import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import type { Logger } from '../lib/log.ts';
import { connectionError } from './database-unavailable.ts';

/** Called with the payload of a notification, or with undefined when one may have been missed: then read the state itself. */
export type NotificationCallback = (payload: string | undefined) => void;

export type Listener = ReturnType<typeof createListener>;

export interface ListenerOptions {
  /** A direct address; undefined when there is only a pooler. */
  readonly url: string | undefined;
  readonly variable?: string | undefined;
  readonly log: Logger;
  readonly pollIntervalMs?: number;
}

/** Waits between attempts to connect, in milliseconds; the last one repeats. Up to a quarter is added at random. */
const BACKOFF_MS = [50, 200, 1000, 5000];
const CHANNEL = /^[a-z_][a-z0-9_]{0,62}$/;
const CONNECT_TIMEOUT_MS = 10_000;
/** A connection that only receives does not notice that the server is gone, so it sends a ping at this interval. */
const PING_INTERVAL_MS = 15_000;

/** Listens on one connection outside the pool, opened with the first subscription and reopened when it is lost. */
export function createListener({ url, variable, log, pollIntervalMs = 1000 }: ListenerOptions) {
  const subscribers = new Map<string, Set<NotificationCallback>>();
  const closing = new AbortController();
  const { signal } = closing;
  let live: pg.Client | undefined;
  let isPooled = url === undefined;
  let running: Promise<void> | undefined;

  const call = (channel: string, payload: string | undefined): void => {
    for (const subscriber of [...(subscribers.get(channel) ?? [])]) {
      try {
        subscriber(payload);
      } catch (error) {
        log.error({ err: error, channel }, 'a subscriber failed');
      }
    }
  };
  const poll = setInterval(() => {
    if (live === undefined) for (const channel of [...subscribers.keys()]) call(channel, undefined);
  }, pollIntervalMs).unref();
  const listen = (client: pg.Client, channel: string): void => {
    client.query(`listen ${pg.escapeIdentifier(channel)}`).then(
      () => call(channel, undefined),
      () => end(client),
    );
  };

  /** Listens until the connection is lost. @returns the reason, if there is one; `pooled` when it leads through a pooler */
  const listenOnce = async (address: string): Promise<Error | 'pooled' | undefined> => {
    const client = new pg.Client({
      connectionString: address,
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
      query_timeout: CONNECT_TIMEOUT_MS,
      keepAlive: true,
      pipeline: true,
      application_name: 'koppelvlak listen',
    });
    const lost = new Promise<Error | undefined>((resolve) => {
      client.on('error', resolve);
      client.on('end', () => resolve(undefined));
    });
    const ping = setInterval(() => void client.query('select').catch(() => end(client)), PING_INTERVAL_MS).unref();
    const stop = (): void => end(client);
    signal.addEventListener('abort', stop, { once: true });
    try {
      signal.throwIfAborted();
      // A connection that is ended while it is being opened never reports its failure.
      await Promise.race([client.connect(), lost.then((error) => Promise.reject(error ?? new Error('it was ended')))]);
      const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
      // Not the announced process: the next user of this connection would receive the notifications.
      if (rows[0]?.pid !== client.processID) return 'pooled';
      client.on('notification', ({ channel, payload }) => call(channel, payload));
      live = client;
      for (const channel of subscribers.keys()) listen(client, channel);
      return await lost;
    } finally {
      live = undefined;
      clearInterval(ping);
      signal.removeEventListener('abort', stop);
      end(client);
    }
  };

  const run = async (address: string): Promise<void> => {
    for (let attempt = 0; !signal.aborted; attempt += 1) {
      try {
        const reason = await listenOnce(address);
        if (reason === 'pooled') {
          isPooled = true;
          log.warn('the address for LISTEN leads through a pooler; polling instead');
          return;
        }
        attempt = 0;
        if (!signal.aborted) log.warn({ err: reason }, 'the connection for LISTEN was lost');
      } catch (error) {
        if (!signal.aborted)
          log.warn({ err: connectionError(error, variable) }, 'the connection for LISTEN cannot be made');
      }
      const wait = BACKOFF_MS[Math.min(attempt, BACKOFF_MS.length - 1)] ?? 0;
      await delay(wait * (1 + Math.random() / 4), undefined, { signal }).catch(() => undefined);
    }
  };

  return {
    /** `unused` without subscribers; `pooled` without a direct connection. Except when `live`, subscribers are called at an interval. */
    state: (): 'live' | 'unused' | 'pooled' | 'lost' => {
      if (live !== undefined) return 'live';
      if (isPooled) return 'pooled';
      return running === undefined ? 'unused' : 'lost';
    },
    /** Calls back on every notification, and whenever listening (re)starts, so that a reader misses nothing in between. @returns unsubscribes */
    subscribe: (channel: string, callback: NotificationCallback): (() => void) => {
      if (!CHANNEL.test(channel)) throw new TypeError(`not the name of a channel: ${channel}`);
      if (signal.aborted) throw new Error('the listener is closed');
      // The wrapper distinguishes two subscriptions of one function.
      const subscriber: NotificationCallback = (payload) => callback(payload);
      const present = subscribers.get(channel) ?? new Set();
      subscribers.set(channel, present.add(subscriber));
      if (live !== undefined) listen(live, channel);
      if (url !== undefined) running ??= run(url);
      return () => void present.delete(subscriber);
    },
    close: async (): Promise<void> => {
      clearInterval(poll);
      closing.abort();
      subscribers.clear();
      await running;
    },
  };
}

function end(client: pg.Client): void {
  client.end().catch(() => undefined);
}
