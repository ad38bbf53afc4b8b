import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from '../log.ts';
import { EmbeddedPostgresError } from './embedded-error.ts';
import type { Postmaster } from './postmaster.ts';
import { isRunning } from './process-identity.ts';

/** Time in milliseconds for a fast shutdown, which writes what is in memory. */
const WAIT_MS = 60_000;

/**
 * Ends a Postgres whose owner is gone and waits until it is.
 * @throws EmbeddedPostgresError FAILED when it stays.
 */
export async function endOrphan(postmaster: Postmaster, log: Logger): Promise<void> {
  log.warn({ pid: postmaster.pid }, 'ending an embedded Postgres that an earlier process left behind');
  signalPostmaster(postmaster, 'SIGINT');
  const giveUp = Date.now() + WAIT_MS;
  while (isRunning(postmaster)) {
    if (Date.now() > giveUp) {
      throw new EmbeddedPostgresError('FAILED', `Postgres (process ${postmaster.pid}) was told to end and did not`);
    }
    await sleep(20);
  }
}

/** Sends a signal to this very process; it may have ended meanwhile. */
export function signalPostmaster(postmaster: Postmaster, signal: 'SIGINT' | 'SIGQUIT' | 'SIGKILL'): void {
  if (!isRunning(postmaster)) return;
  try {
    process.kill(postmaster.pid, signal);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error;
  }
}
