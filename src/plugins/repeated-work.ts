/** Work that is repeated while the server listens, such as an index that follows the feed. */
import type { FastifyInstance } from 'fastify';
import { reasonOf } from '../lib/log.ts';
import { shareRuns } from '../lib/scheduling.ts';
import type { Clock } from '../lib/time.ts';

/** Does a part of the work; `changed` when there may be more to do at once. */
export type WorkStep = () => Promise<'changed' | 'done' | 'busy'>;

interface RepeatedWork {
  readonly everyMs: number;
  readonly step: WorkStep;
  /** Logged when a step begins to fail, or fails for another reason; it is retried at growing intervals. */
  readonly failure: string;
  /** Subscribes to early starts of the work. @returns unsubscribes */
  readonly onWork?: (callback: () => void) => () => void;
}

export type Failing = ReturnType<typeof createFailing>;

export function createFailing(clock: Clock) {
  let last: { readonly since: Date; readonly reason: string } | undefined;
  return {
    /** Since when, and the reason of the last failure, for operators; undefined when the last attempt succeeded. */
    text: (): string | undefined =>
      last && `has failed since ${last.since.toISOString()} and is tried again: ${last.reason}`,
    /** Records a failed attempt. @returns true when the task starts to fail, or fails for another reason */
    failed(error: unknown): boolean {
      const [before, reason] = [last?.reason, reasonOf(error)];
      last = { since: last?.since ?? clock.now(), reason };
      return reason !== before;
    },
    succeeded(): void {
      last = undefined;
    },
  };
}

/** Longest wait after failures, unless the work repeats less often anyway. */
const MAX_RETRY_MS = 10_000;

export function repeatWork(
  app: FastifyInstance,
  { everyMs, step, failure, onWork }: RepeatedWork,
): Pick<Failing, 'text'> {
  const failing = createFailing(app.clock);
  let isWanted = false;
  let isClosed = false;
  let failures = 0;
  let retryAt = 0;
  let timer: NodeJS.Timeout | undefined;
  let unsubscribe: (() => void) | undefined;
  const work = shareRuns(async () => {
    try {
      while (isWanted && !isClosed) {
        isWanted = false;
        if ((await step()) === 'changed') isWanted = true;
        failing.succeeded();
        failures = 0;
      }
    } catch (error) {
      retryAt = performance.now() + Math.min(everyMs * 2 ** failures, MAX_RETRY_MS);
      failures += 1;
      if (failing.failed(error) && !app.stopping.aborted) app.log.error({ err: error }, failure);
    }
  });
  const wake = (): void => {
    isWanted = true;
    if (isClosed || performance.now() < retryAt) return;
    void work.run();
  };
  app.addHook('onListen', async () => {
    unsubscribe = onWork?.(wake);
    timer = setInterval(wake, everyMs).unref();
    wake();
  });
  app.addHook('onClose', async () => {
    isClosed = true;
    unsubscribe?.();
    clearInterval(timer);
    await work.running();
  });
  return failing;
}
