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
  let cancelling: Promise<void> | undefined;
  const abort = (): void => {
    cancelling = cancelAndClose(client);
  };
  signal.addEventListener('abort', abort, { once: true });
  let isLost = false;
  try {
    signal.throwIfAborted();
    return await fn(client);
  } catch (error) {
    // On a connection that has gone silent the statement may still be running.
    isLost = isDatabaseAway(error);
    throw signal.aborted ? signal.reason : error;
  } finally {
    signal.removeEventListener('abort', abort);
    await cancelling;
    // A late cancellation must not hit the next user's statement, so an aborted connection is not used again.
    client.release(cancelling !== undefined || isLost);
  }
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
