import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from '../log.ts';
import { signalPostmaster } from './end-orphan.ts';
import type { Postmaster } from './postmaster.ts';
import type { SpawnedPostgres } from './spawn-postgres.ts';

/** Times in milliseconds after which a shutdown is made harder; both ways lose nothing that was committed. */
const FAST_MS = 30_000;
const IMMEDIATE_MS = 10_000;

/** Ends a Postgres of this process: fast, then immediate, then by force. */
export async function stopPostgres(postgres: SpawnedPostgres, postmaster: Postmaster, log: Logger): Promise<void> {
  postgres.end();
  if (await endsWithin(postgres, FAST_MS)) return;
  log.warn('the embedded Postgres does not end; ending it at once, the next start recovers from its log');
  signalPostmaster(postmaster, 'SIGQUIT');
  if (await endsWithin(postgres, IMMEDIATE_MS)) return;
  signalPostmaster(postmaster, 'SIGKILL');
  await postgres.exited;
}

async function endsWithin(postgres: SpawnedPostgres, ms: number): Promise<boolean> {
  const timer = new AbortController();
  const late = sleep(ms, false, { signal: timer.signal }).catch(() => false);
  const ended = await Promise.race([postgres.exited.then(() => true), late]);
  timer.abort();
  return ended;
}
