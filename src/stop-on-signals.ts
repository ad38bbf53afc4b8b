import type { Logger } from './kernel/log.ts';
import type { Terminal } from './kernel/terminal.ts';

export interface StopOptions {
  readonly stop: (options?: { readonly drainMs?: number }) => Promise<void>;
  readonly log: Logger;
  /** Milliseconds for whoever stands in front to go elsewhere after `SIGTERM`; Ctrl-C is somebody who waits. */
  readonly drainMs?: number;
  /** Milliseconds that stopping may take; after that the process ends with status 1. */
  readonly timeoutMs: number;
  /** Settles when something that the service cannot do without has ended: then it stops too, with status 1. */
  readonly lost: Promise<void>;
}

/** Resolves after `SIGTERM` or Ctrl-C, once everything has stopped; a second signal, or too long a wait, ends at once. */
export async function stopOnSignals(
  terminal: Pick<Terminal, 'once' | 'exit' | 'exitCode'>,
  { stop, log, drainMs = 0, timeoutMs, lost }: StopOptions,
): Promise<void> {
  const signal = await new Promise<NodeJS.Signals | undefined>((resolve) => {
    terminal.once('SIGTERM', resolve).once('SIGINT', resolve);
    void lost.then(() => resolve(undefined));
  });
  if (signal === undefined) terminal.exitCode = 1;
  log.info({ reason: signal ?? 'the database has ended' }, 'stopping');
  const force = (reason: string): void => {
    log.error(reason);
    terminal.exit(1);
  };
  const drain = signal === 'SIGTERM' ? drainMs : 0;
  const timer = setTimeout(() => force('stopping took too long'), drain + timeoutMs + 2000);
  // Without the database there is nothing to go on with.
  void lost.then(() => stop()).catch(() => undefined);
  terminal
    .once('SIGTERM', () => force('stopped by a second signal'))
    .once('SIGINT', () => force('stopped by a second signal'));
  try {
    await stop({ drainMs: drain });
    log.info('stopped');
  } finally {
    clearTimeout(timer);
  }
}
