import type { Platform } from '../kernel/platform.ts';
import { forgetIdempotency } from './store/idempotency.ts';
import { MONTHS_AHEAD, makeMonths } from './store/make-months.ts';
import { prune } from './store/prune.ts';

const EVERY_MS = 3_600_000;

/**
 * Makes partitions ahead and forgets old idempotency keys: at once, and every hour; and prunes as often as configured. A failure is
 * logged and tried again the next time; a month that is missing all the same is made by the first append that needs it.
 */
export function startMaintenance(platform: Platform): { stop: () => Promise<void> } {
  const { pool, clock, log } = platform;
  const { pruneIntervalMinutes } = platform.config.verwerkingenlog;
  let running = Promise.resolve();
  const work = async (): Promise<void> => {
    try {
      await makeMonths(pool, clock.now(), MONTHS_AHEAD);
      await forgetIdempotency(pool, clock.now());
    } catch (err) {
      log.warn({ err }, 'the upkeep of the processing log failed and will be tried again');
    }
  };
  const pruneNow = async (): Promise<void> => {
    try {
      const signal = AbortSignal.any([platform.stopping, stopped.signal]);
      const { removed, droppedMonths } = await prune({
        pool: platform.prunePool,
        now: clock.now(),
        dryRun: false,
        signal,
      });
      log.info({ removed, droppedMonths }, 'actions past their term were removed');
    } catch (err) {
      if (!platform.stopping.aborted && !stopped.signal.aborted)
        log.warn({ err }, 'removing actions past their term failed');
    }
  };
  const stopped = new AbortController();
  const then = (next: () => Promise<void>) => (): void => {
    running = running.then(next);
  };
  then(work)();
  const timers = [setInterval(then(work), EVERY_MS).unref()];
  if (pruneIntervalMinutes > 0) timers.push(setInterval(then(pruneNow), pruneIntervalMinutes * 60_000).unref());
  return {
    async stop() {
      for (const timer of timers) clearInterval(timer);
      stopped.abort();
      await running;
    },
  };
}
