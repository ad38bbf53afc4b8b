import pg from 'pg';
import { isDatabaseUnavailable } from './database-unavailable.ts';
import type { Pool } from './pool.ts';

/**
 * Gives `fn` a connection whose running statement is cancelled at the server when the signal fires, so that a caller who went away
 * costs nothing any more.
 * @throws the signal's reason when it fired, else what `fn` throws.
 */
export async function withAbort<T>(
  pool: Pool,
  signal: AbortSignal,
  fn: (client: pg.PoolClient) => Promise<T>,
): Promise<T> {
  signal.throwIfAborted();
  const client = await pool.connect();
  const cancellation = cancelOnAbort(client, signal);
  let isLost = false;
  try {
    signal.throwIfAborted();
    return await fn(client);
  } catch (error) {
    // On a connection that has gone silent the statement may still be running.
    isLost = isDatabaseUnavailable(error);
    throw signal.aborted ? signal.reason : error;
  } finally {
    const isCancelled = await cancellation.end();
    client.release(isCancelled || isLost);
  }
}

/**
 * Cancels what runs on a connection when the signal fires, and closes it: a late cancellation must not hit the next user's statement.
 * @returns ends that before the connection is given back, and says whether it must not be used again
 */
export function cancelOnAbort(client: pg.PoolClient, signal: AbortSignal): { readonly end: () => Promise<boolean> } {
  let cancelling: Promise<void> | undefined;
  const abort = (): void => {
    cancelling = cancelAndClose(client);
  };
  signal.addEventListener('abort', abort, { once: true });
  return {
    async end() {
      signal.removeEventListener('abort', abort);
      await cancelling;
      return cancelling !== undefined;
    },
  };
}

/** The connection is closed in any case: else `fn`, which may be between two statements, would go on. */
async function cancelAndClose(client: pg.PoolClient): Promise<void> {
  try {
    await cancelRequest(client);
  } catch {
    // The server did not take it: closing is all that is left, and the statement timeout ends what still runs there.
  } finally {
    await client.end();
  }
}

declare module 'pg' {
  interface ClientBase {
    /** What the server gave to cancel this connection's statements with. */
    readonly processID: number | null;
    readonly secretKey: number | null;
    readonly sslNegotiation: 'postgres' | 'direct';
  }
  interface Connection {
    connect(portOrPath: number | string, host?: string): void;
    cancel(processID: number, secretKey: number): void;
    requestSsl(): void;
  }
}

/** Time in milliseconds for the whole exchange. */
const TIMEOUT_MS = 5000;

/**
 * Asks the server to cancel the statement that runs on a connection; settles when the server has taken the request. It goes over a
 * connection of its own as the protocol has it (CancelRequest), because `pg_cancel_backend` is refused to a role that is not the
 * login, and means nothing through a pooler.
 * @see https://www.postgresql.org/docs/current/protocol-flow.html#PROTOCOL-FLOW-CANCELING-REQUESTS
 */
async function cancelRequest(client: pg.Client): Promise<void> {
  const { processID, secretKey, host, port, ssl, sslNegotiation } = client;
  if (processID === null || secretKey === null) return;
  const config = { ssl, sslNegotiation };
  const connection = new pg.Connection(config);
  const timer = setTimeout(() => connection.stream.destroy(new Error('no answer to the cancel request')), TIMEOUT_MS);
  try {
    await new Promise<void>((resolve, reject) => {
      const cancel = (): void => connection.cancel(processID, secretKey);
      connection.on('connect', () => {
        if (!ssl) cancel();
        else if (sslNegotiation === 'postgres') connection.requestSsl();
      });
      connection.on('sslconnect', cancel);
      connection.on('error', reject);
      connection.on('end', resolve);
      if (host.startsWith('/')) connection.connect(`${host}/.s.PGSQL.${port}`);
      else connection.connect(port, host);
    });
  } finally {
    clearTimeout(timer);
    connection.stream.destroy();
  }
}
