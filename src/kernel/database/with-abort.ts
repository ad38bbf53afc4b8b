import type pg from 'pg';
import { cancelRequest } from './cancel-request.ts';
import { isDatabaseAway } from './database-away.ts';
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
    isLost = isDatabaseAway(error);
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
