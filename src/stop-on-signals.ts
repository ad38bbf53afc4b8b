import process from 'node:process';
import type { Logger } from './kernel/log.ts';

export interface StopOptions {
  readonly stop: () => Promise<void>;
  readonly log: Logger;
  /** Milliseconds that stopping may take; after that the process ends with status 1. */
  readonly timeoutMs: number;
  /** Settles when something that the service cannot do without has ended: then it stops too, with status 1. */
  readonly lost: Promise<void>;
}

/** Resolves after `SIGTERM` or Ctrl-C, once everything has stopped; a second signal, or too long a wait, ends at once. */
export async function stopOnSignals({ stop, log, timeoutMs, lost }: StopOptions): Promise<void> {
  const signal = await new Promise<NodeJS.Signals | undefined>((resolve) => {
    process.once('SIGTERM', resolve).once('SIGINT', resolve);
    void lost.then(() => resolve(undefined));
  });
  if (signal === undefined) process.exitCode = 1;
  log.info({ reason: signal ?? 'the database has ended' }, 'stopping');
  const force = (reason: string): void => {
    log.error(reason);
    process.exit(1);
  };
  const timer = setTimeout(() => force('stopping took too long'), timeoutMs + 2000);
  process
    .once('SIGTERM', () => force('stopped by a second signal'))
    .once('SIGINT', () => force('stopped by a second signal'));
  try {
    await stop();
    log.info('stopped');
  } finally {
    clearTimeout(timer);
  }
}
