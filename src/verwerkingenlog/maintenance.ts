import type { Platform } from '../kernel/platform.ts';
import { forgetIdempotency } from './store/idempotency.ts';
import { MONTHS_AHEAD, makeMonths } from './store/make-months.ts';

const EVERY_MS = 3_600_000;

/**
 * Makes partitions ahead and forgets old idempotency keys: at once, and every hour. A failure is logged and tried again the next
 * hour; a month that is missing all the same is made by the first append that needs it.
 */
export function startMaintenance(platform: Platform): { stop: () => Promise<void> } {
  const { pool, clock, log } = platform;
  let running = Promise.resolve();
  const work = async (): Promise<void> => {
    try {
      await makeMonths(pool, clock.now(), MONTHS_AHEAD);
      await forgetIdempotency(pool, clock.now());
    } catch (err) {
      log.warn({ err }, 'the upkeep of the processing log failed and will be tried again');
    }
  };
  const again = (): void => {
    running = running.then(work);
  };
  again();
  const timer = setInterval(again, EVERY_MS).unref();
  return {
    async stop() {
      clearInterval(timer);
      await running;
    },
  };
}
