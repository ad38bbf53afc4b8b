import { setTimeout as sleep } from 'node:timers/promises';
import type { Pool } from '../../../kernel/database/pool.ts';
import type { Logger } from '../../../kernel/log.ts';
import type { Lease, Source } from '../source.ts';
import { claimDueSources, renewLeases } from '../store/leases.ts';

export interface SchedulerOptions {
  readonly pool: Pool;
  readonly log: Logger;
  /** Who this is: unique among all instances. */
  readonly holder: string;
  /** The kind of sources: those that take long to read do not keep the others waiting. */
  readonly soort: Source['soort'];
  /** Sources at the same time. */
  readonly concurrency: number;
  readonly leaseSeconds: number;
  /** Fires when the process begins to stop. */
  readonly stopping: AbortSignal;
  /** Works on a source and gives it back; never throws. */
  readonly run: (lease: Lease, signal: AbortSignal) => Promise<void>;
}

export interface Scheduler {
  start(): void;
  /** Stops taking sources, and waits for what is under way. */
  close(): Promise<void>;
}

/** Milliseconds between looks for sources that are due. */
const LOOK_MS = 200;
/** After the database could not be asked. */
const AWAY_MS = 1000;

/** Takes sources that are due, a few at a time, and sees that their leases last as long as the work. */
export function createScheduler(options: SchedulerOptions): Scheduler {
  const { pool, log, holder, soort, concurrency, leaseSeconds, run } = options;
  const stopping = new AbortController();
  const signal = AbortSignal.any([stopping.signal, options.stopping]);
  const running = new Set<Promise<void>>();
  let loop: Promise<void> | undefined;
  let renewal: NodeJS.Timeout | undefined;

  const take = async (): Promise<boolean> => {
    const leases = await claimDueSources(pool, holder, {
      soort,
      limit: concurrency - running.size,
      leaseSeconds,
    });
    for (const lease of leases) {
      const work = run(lease, signal).finally(() => running.delete(work));
      running.add(work);
    }
    return leases.length > 0;
  };
  const work = async (): Promise<void> => {
    while (!signal.aborted) {
      try {
        const isFull = running.size >= concurrency;
        if (!isFull && (await take())) continue;
        await Promise.race([...(isFull ? running : []), sleep(LOOK_MS, undefined, { signal })]);
      } catch (error) {
        if (signal.aborted) return;
        log.warn({ err: error }, 'sources cannot be taken up');
        await sleep(AWAY_MS, undefined, { signal }).catch(() => undefined);
      }
    }
  };
  return {
    start() {
      loop ??= work();
      renewal ??= setInterval(
        () => {
          if (running.size === 0) return;
          renewLeases(pool, holder, leaseSeconds).catch((error: unknown) =>
            log.warn({ err: error }, 'leases cannot be renewed'),
          );
        },
        (leaseSeconds * 1000) / 3,
      );
      renewal.unref();
    },
    async close() {
      stopping.abort();
      clearInterval(renewal);
      await loop;
      await Promise.all(running);
    },
  };
}
