import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import type { Logger } from '../lib/log.ts';
import { findHost } from './addresses.ts';
import { connectionError } from './database-unavailable.ts';

/** Called with the payload of a notification, or with undefined when one may have been missed: then read the state itself. */
export type NotificationCallback = (payload: string | undefined) => void;

/** Receives notifications of other processes. */
export interface Listener {
  /**
   * Calls back on every notification of a channel, and once whenever listening (re)starts, so that a reader misses nothing in between.
   * @returns ends the subscription.
   */
  readonly subscribe: (channel: string, callback: NotificationCallback) => () => void;
  /** Whether notifications arrive now; otherwise subscribers are called at an interval. */
  readonly isLive: () => boolean;
  /** `live`; `unused` without subscribers; `pooled` when there is no direct connection; `lost` until it is back. */
  readonly state: () => 'live' | 'unused' | 'pooled' | 'lost';
  readonly close: () => Promise<void>;
}

export interface ListenerOptions {
  /** A direct address; undefined when there is only a pooler: then subscribers are called at an interval. */
  readonly url: string | undefined;
  /** The setting that holds the address, for error messages. */
  readonly variable?: string | undefined;
  readonly log: Logger;
  /** Interval in milliseconds of calling subscribers while there is no connection; default 1000. */
  readonly pollIntervalMs?: number;
}

/** Waits between attempts to connect, in milliseconds; the last one repeats. Up to a quarter is added at random. */
const BACKOFF_MS = [50, 200, 1000, 5000];
const CHANNEL = /^[a-z_][a-z0-9_]{0,62}$/;

/** Listens on one connection outside the pool, opened with the first subscription and reopened when it is lost. */
export function createListener(options: ListenerOptions): Listener {
  return new ReconnectingListener(options);
}

/**
 * States: no connection needed (no url, or no subscriber yet), connecting, live, waiting to retry, closed. Except when live or closed,
 * subscribers are called at an interval.
 */
class ReconnectingListener implements Listener {
  readonly #options: ListenerOptions;
  readonly #subscribers = new Map<string, Set<NotificationCallback>>();
  readonly #closing = new AbortController();
  readonly #poll: NodeJS.Timeout;
  #connection: ListenConnection | undefined;
  #isPooled = false;
  #running: Promise<void> | undefined;

  constructor(options: ListenerOptions) {
    this.#options = options;
    this.#poll = setInterval(() => {
      if (!this.isLive()) this.#callAll();
    }, options.pollIntervalMs ?? 1000);
    this.#poll.unref();
  }

  readonly isLive = (): boolean => this.#connection !== undefined;

  readonly state: Listener['state'] = () => {
    if (this.isLive()) return 'live';
    if (this.#isPooled || this.#options.url === undefined) return 'pooled';
    return this.#running === undefined ? 'unused' : 'lost';
  };

  readonly subscribe = (channel: string, callback: NotificationCallback): (() => void) => {
    if (!CHANNEL.test(channel)) throw new TypeError(`not the name of a channel: ${channel}`);
    if (this.#closing.signal.aborted) throw new Error('the listener is closed');
    // A wrapper makes two subscriptions of one function two.
    const subscriber: NotificationCallback = (payload) => callback(payload);
    const present = this.#subscribers.get(channel);
    if (present === undefined) {
      this.#subscribers.set(channel, new Set([subscriber]));
      this.#connection?.listen(channel);
    } else present.add(subscriber);
    if (this.#options.url !== undefined) this.#running ??= this.#run(this.#options.url);
    return () => this.#unsubscribe(channel, subscriber);
  };

  readonly close = async (): Promise<void> => {
    clearInterval(this.#poll);
    this.#closing.abort();
    this.#subscribers.clear();
    await this.#running;
  };

  #unsubscribe(channel: string, subscriber: NotificationCallback): void {
    const present = this.#subscribers.get(channel);
    if (!present?.delete(subscriber) || present.size > 0) return;
    this.#subscribers.delete(channel);
    this.#connection?.unlisten(channel);
  }

  async #run(url: string): Promise<void> {
    const { signal } = this.#closing;
    const { log } = this.#options;
    for (let attempt = 0; !signal.aborted; ) {
      try {
        const connection = await openListenConnection(url, {
          signal,
          onNotification: (channel, payload) => this.#call(channel, payload),
        });
        if (connection === 'pooled') {
          this.#isPooled = true;
          log.warn('the address for LISTEN leads through a pooler; polling instead');
          return;
        }
        this.#connection = connection;
        attempt = 0;
        for (const channel of this.#subscribers.keys()) connection.listen(channel);
        const reason = await connection.lost;
        if (!signal.aborted) log.warn({ err: reason }, 'the connection for LISTEN was lost');
      } catch (error) {
        if (!signal.aborted)
          log.warn({ err: connectionError(error, this.#options.variable) }, 'the connection for LISTEN cannot be made');
      }
      this.#connection = undefined;
      const wait = BACKOFF_MS[Math.min(attempt, BACKOFF_MS.length - 1)] ?? 0;
      await delay(wait * (1 + Math.random() / 4), undefined, { signal }).catch(() => undefined);
      attempt += 1;
    }
  }

  #call(channel: string, payload: string | undefined): void {
    for (const subscriber of [...(this.#subscribers.get(channel) ?? [])]) {
      try {
        subscriber(payload);
      } catch (error) {
        this.#options.log.error({ err: error, channel }, 'a subscriber failed');
      }
    }
  }

  #callAll(): void {
    for (const channel of [...this.#subscribers.keys()]) this.#call(channel, undefined);
  }
}

/** A connection that listens. */
interface ListenConnection {
  /** Starts listening; when the server has confirmed it, the channel is reported once without payload. */
  readonly listen: (channel: string) => void;
  readonly unlisten: (channel: string) => void;
  /** Resolves when the connection has ended, with the reason if there is one. */
  readonly lost: Promise<Error | undefined>;
}

const CONNECT_TIMEOUT_MS = 10_000;
/** A connection that is only read does not notice that the other side is gone, hence a ping at this interval. */
const PING_INTERVAL_MS = 15_000;
const QUERY_TIMEOUT_MS = 10_000;

/**
 * Connects. `pooled` when the server process is not the one that was announced: then there is a pooler in between, and the next user of that
 * process would receive the notifications.
 */
async function openListenConnection(
  url: string,
  options: { signal: AbortSignal; onNotification: (channel: string, payload: string | undefined) => void },
): Promise<ListenConnection | 'pooled'> {
  const { signal, onNotification } = options;
  const client = new pg.Client({
    connectionString: await findHost(url, CONNECT_TIMEOUT_MS),
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    query_timeout: QUERY_TIMEOUT_MS,
    keepAlive: true,
    application_name: 'koppelvlak listen',
  });
  const lost = new Promise<Error | undefined>((resolve) => {
    client.on('error', resolve);
    client.on('end', () => resolve(undefined));
  });
  const end = (): void => {
    client.end().catch(() => undefined);
  };
  try {
    await client.connect();
    const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
    if (rows[0]?.pid !== client.processID) {
      await client.end();
      return 'pooled';
    }
  } catch (error) {
    end();
    throw error;
  }
  client.on('notification', ({ channel, payload }) => onNotification(channel, payload));

  // One by one: `pg` does not want overlapping statements on a connection.
  let last: Promise<unknown> = Promise.resolve();
  const send = (text: string, then?: () => void): void => {
    last = last.then(() => client.query(text)).then(then, end);
  };
  const ping = setInterval(() => send('select'), PING_INTERVAL_MS);
  ping.unref();
  signal.addEventListener('abort', end, { once: true });
  if (signal.aborted) end();
  return {
    listen: (channel) => send(`listen ${pg.escapeIdentifier(channel)}`, () => onNotification(channel, undefined)),
    unlisten: (channel) => send(`unlisten ${pg.escapeIdentifier(channel)}`),
    lost: lost.finally(() => {
      clearInterval(ping);
      signal.removeEventListener('abort', end);
      end();
    }),
  };
}
