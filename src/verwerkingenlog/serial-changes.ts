/**
 * Changes of one action or processing happen one after another. What has to wait waits here, without a connection of the database: else a
 * few clients that change the same processing would leave none for anybody.
 */
import { setTimeout as pause } from 'node:timers/promises';
import type pg from 'pg';
import type { Pool } from '../kernel/database/pool.ts';
import { type Db, transaction } from '../kernel/database/transaction.ts';
import type { Platform } from '../kernel/platform.ts';
import { Problem } from '../kernel/problem.ts';
import type { OneAtATime } from '../kernel/scheduling.ts';
import { verwerkingenlogProblems } from './problems.ts';
import { tryLockChanges } from './store/lock-changes.ts';

/** Who asks for a change, and of what. */
export interface Change {
  /** Of `store/lock-changes.ts`. */
  readonly names: readonly string[];
  readonly client: string;
  /** Fires when the client went away: then its change waits no longer. */
  readonly gone: AbortSignal;
  /** It is of an action about very many persons: of those the process works on one at a time. */
  readonly isLarge?: boolean;
}

export interface SerialChanges {
  /**
   * Runs `work` in a transaction while nobody else, in no instance, changes anything that is named. One client's changes have at most
   * three quarters of the connections at a time, however many different things they change.
   * @throws {Problem} 503 when too many wait for the same, or one of them for too long; and what `work` throws
   */
  run<T>(change: Change, work: (db: pg.PoolClient) => Promise<T>): Promise<T>;
  /** Reads what a change needs to know beforehand, within the same share of the client. */
  read<T>(change: Pick<Change, 'client' | 'gone'>, work: (db: Db) => Promise<T>): Promise<T>;
}

/** How long a change waits in all for another instance (milliseconds), and how often it asks. */
const MOST_WAIT_MS = 10_000;
const ASK_EVERY_MS = 40;
/** Changes of one client that may wait, for each that may be under way. */
const WAITING_PER_CONNECTION = 100;

export function createSerialChanges({ shares, config }: Platform, large: OneAtATime): SerialChanges {
  const { changesWaiting } = config.verwerkingenlog;
  const pool = shares.verwerkingenlog;
  const enter = createLocks({ most: 1, maxWaiting: changesWaiting });
  const share = shareOf(pool);
  const enterShare = createLocks({ most: share, maxWaiting: share * WAITING_PER_CONNECTION });

  async function withinShare<T>(client: string, gone: AbortSignal, work: () => Promise<T>): Promise<T> {
    const leave = await enterShare(client, gone);
    try {
      return await work();
    } finally {
      leave();
    }
  }

  /** @returns undefined when another instance holds one of the locks */
  const attempt = <T>(
    names: readonly string[],
    work: (db: pg.PoolClient) => Promise<T>,
  ): Promise<{ readonly result: T } | undefined> =>
    transaction(pool, async (db) => ((await tryLockChanges(db, names)) ? { result: await work(db) } : undefined));

  return {
    read: ({ client, gone }, work) => withinShare(client, gone, () => work(pool)),
    async run({ names, client, gone, isLarge = false }, work) {
      const attemptOnce = () => {
        if (gone.aborted) throw busy();
        return attempt(names, work);
      };
      const leaves: (() => void)[] = [];
      try {
        // In one order, so that no two wait for each other.
        for (const name of [...new Set(names)].sort()) leaves.push(await enter(name, gone));
        const until = performance.now() + MOST_WAIT_MS;
        do {
          const done = await withinShare(client, gone, async () =>
            isLarge ? await large.run(client, async () => attemptOnce()) : await attemptOnce(),
          );
          if (done !== undefined) return done.result;
          await pause(ASK_EVERY_MS * (0.5 + Math.random()));
        } while (performance.now() < until);
        throw busy();
      } finally {
        for (const leave of leaves) leave();
      }
    },
  };
}

/** The connections that one client may have. */
function shareOf({ options: { max } }: Pool): number {
  return Math.max(1, max - Math.max(1, Math.floor(max / 4)));
}

interface Lock {
  held: number;
  /** Who waits to hold it. */
  readonly waiting: (() => void)[];
}

/** Locks by name, each held by at most so many, and handed on in the order in which they were asked for. */
function createLocks({ most, maxWaiting }: { readonly most: number; readonly maxWaiting: number }) {
  const locks = new Map<string, Lock>();

  function wait(waiting: (() => void)[], gone: AbortSignal): Promise<void> {
    if (gone.aborted || waiting.length >= maxWaiting) return Promise.reject(busy());
    return new Promise((resolve, reject) => {
      const enter = (): void => {
        gone.removeEventListener('abort', giveUp);
        resolve();
      };
      const giveUp = (): void => {
        waiting.splice(waiting.indexOf(enter), 1);
        reject(busy());
      };
      waiting.push(enter);
      gone.addEventListener('abort', giveUp, { once: true });
    });
  }

  /** @returns gives the lock back; call it once */
  return async (name: string, gone: AbortSignal): Promise<() => void> => {
    const lock = locks.get(name) ?? { held: 0, waiting: [] };
    locks.set(name, lock);
    if (lock.held < most) lock.held += 1;
    else await wait(lock.waiting, gone);
    return () => {
      const next = lock.waiting.shift();
      if (next !== undefined) return next();
      lock.held -= 1;
      if (lock.held === 0) locks.delete(name);
    };
  };
}

function busy(): Problem {
  return new Problem(verwerkingenlogProblems.verwerkingBezet, { headers: { 'retry-after': '2' } });
}
