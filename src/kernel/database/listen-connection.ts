import './cancel-request.ts';
import pg from 'pg';
import { findHost } from './hosts.ts';

/** One connection that listens. */
export interface ListenConnection {
  /** Starts listening; when the server has confirmed it, the channel is reported once without payload. */
  readonly listen: (channel: string) => void;
  readonly unlisten: (channel: string) => void;
  /** Settles with the reason when the connection has ended. */
  readonly lost: Promise<Error | undefined>;
}

const CONNECT_TIMEOUT_MS = 10_000;
/** A connection that is only read does not notice that the other side is gone, so it is asked something at this interval. */
const PING_INTERVAL_MS = 15_000;
const QUERY_TIMEOUT_MS = 10_000;

/**
 * Connects. `pooled` when the server process is not the one that the connection was announced with: then a pooler stands
 * between, and `listen` would be heard by whoever gets that process next.
 */
export async function openListenConnection(
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

  // One after the other: pg wants no second statement on a connection before the first has ended.
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
