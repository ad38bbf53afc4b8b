/** Work that is repeated from when the server listens until it closes, such as an index that follows the feed. */
import type { FastifyInstance } from 'fastify';

/** Does a part of the work; `changed` when there may be more to do at once. */
export type WorkStep = () => Promise<'changed' | 'done' | 'busy'>;

interface RepeatedWork {
  readonly everyMs: number;
  readonly step: WorkStep;
  /** What is logged when a step fails; it is retried. */
  readonly failure: string;
  /** Calls back when there is work before the time. @returns what ends that */
  readonly onWork?: (callback: () => void) => () => void;
}

export function repeatWork(app: FastifyInstance, { everyMs, step, failure, onWork }: RepeatedWork): void {
  let running: Promise<void> | undefined;
  let isWanted = false;
  let isClosed = false;
  let timer: NodeJS.Timeout | undefined;
  let unsubscribe: (() => void) | undefined;
  const run = async (): Promise<void> => {
    try {
      while (isWanted && !isClosed) {
        isWanted = false;
        if ((await step()) === 'changed') isWanted = true;
      }
    } catch (error) {
      if (!app.stopping.aborted) app.log.error({ err: error }, failure);
    }
  };
  const wake = (): void => {
    isWanted = true;
    if (isClosed) return;
    running ??= run().finally(() => {
      running = undefined;
    });
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
    await running;
  });
}
