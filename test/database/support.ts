import { createPool, type Pool, type PoolOptions } from '../../src/database/pool.ts';
import { createLogger, type Logger } from '../../src/lib/log.ts';

export const quiet: Logger = createLogger('silent');

/** A logger that keeps its lines. */
export function keepingLog(): { log: Logger; lines: string[] } {
  const lines: string[] = [];
  const log = createLogger('debug', { write: (line) => void lines.push(line) });
  return { log, lines };
}

/** A pool on a test's database. */
export function openPool(url: string, options: Partial<PoolOptions> = {}): Pool {
  return createPool({
    url,
    size: 4,
    connectTimeoutMs: 5000,
    statementTimeoutMs: 10_000,
    pooler: 'none',
    applicationName: 'koppelvlak test',
    log: quiet,
    ...options,
  });
}

/** Waits for a condition; the test's own timeout limits the wait. */
export async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await condition())) await new Promise((resolve) => setTimeout(resolve, 10));
}
