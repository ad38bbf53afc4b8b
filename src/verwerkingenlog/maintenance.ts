import type { Platform } from '../kernel/platform.ts';
import { forgetIdempotency } from './store/idempotency.ts';
import { MONTHS_AHEAD, makeMonths } from './store/make-months.ts';

const EVERY_MS = 3_600_000;

/**
 * Makes partitions ahead and forgets old idempotency keys: at once, and every hour. A failure is logged and tried again the next time;
 * a month that is missing all the same is made by the first append that needs it.
 */
export function startMaintenance({ pool, clock, log }: Platform): { stop: () => Promise<void> } {
  const work = async (): Promise<void> => {
    try {
      await makeMonths(pool, clock.now(), MONTHS_AHEAD);
      await forgetIdempotency(pool, clock.now());
    } catch (err) {
      log.warn({ err }, 'the upkeep of the processing log failed and will be tried again');
    }
  };
  let running = work();
  const timer = setInterval(() => {
    running = running.then(work);
  }, EVERY_MS).unref();
  return {
    async stop() {
      clearInterval(timer);
      await running;
    },
  };
}
