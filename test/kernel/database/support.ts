import { createLogger, type Logger } from '../../../src/kernel/log.ts';

export const quiet: Logger = createLogger('silent');

/** A logger that keeps what it is told. */
export function keepingLog(): { log: Logger; lines: string[] } {
  const lines: string[] = [];
  const log = createLogger('debug', { write: (line) => void lines.push(line) });
  return { log, lines };
}
