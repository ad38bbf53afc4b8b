/** Runs what follows the feed of this database, such as an index: at once when the feed changes, and every half second besides. */
import type { Logger } from '../../lib/log.ts';
import type { HeadCache } from './head.ts';

/** Milliseconds until the next attempt: after a fault, and beside another process that may stop halfway. */
const RETRY_MS = 500;

export interface Follower {
  start(): void;
  close(): Promise<void>;
}

interface FollowerOptions {
  readonly heads: HeadCache;
  readonly log: Logger;
  /** What follows, as a log line names it. */
  readonly name: string;
  readonly step: FollowStep;
}

/** Takes the next records in, in one transaction with the position; `changed` when there may be more to do. */
export type FollowStep = () => Promise<'changed' | 'done' | 'busy'>;

/** Every instance follows; the step lets one at a time take its turn. */
export function createFollower({ heads, log, name, step }: FollowerOptions): Follower {
  let running: Promise<void> | undefined;
  let isWanted = false;
  let isClosed = false;
  let timer: NodeJS.Timeout | undefined;
  const run = async (): Promise<void> => {
    try {
      while (isWanted && !isClosed) {
        isWanted = false;
        if ((await step()) === 'changed') isWanted = true;
      }
    } catch (error) {
      log.error({ err: error }, `${name} cannot follow the feed; it is tried again`);
    }
  };
  const wake = (): void => {
    isWanted = true;
    if (isClosed) return;
    running ??= run().finally(() => {
      running = undefined;
    });
  };
  let unsubscribe = (): void => undefined;
  return {
    start() {
      unsubscribe = heads.onChange(wake);
      timer = setInterval(wake, RETRY_MS).unref();
      wake();
    },
    async close() {
      isClosed = true;
      unsubscribe();
      clearInterval(timer);
      await running;
    },
  };
}
