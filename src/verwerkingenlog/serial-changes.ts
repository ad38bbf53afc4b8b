/**
 * Changes of one action or processing happen one after another. What has to wait waits here, without a connection of the database: else a
 * few clients that change the same processing would leave none for anybody.
 */
import { setTimeout as pause } from 'node:timers/promises';
import type pg from 'pg';
import { transaction } from '../kernel/database/transaction.ts';
import type { Platform } from '../kernel/platform.ts';
import { Problem } from '../kernel/problem.ts';
import { verwerkingenlogProblems } from './problems.ts';
import { tryLockChanges } from './store/lock-changes.ts';

export interface SerialChanges {
  /**
   * Runs `work` in a transaction while nobody else, in no instance, changes anything that is named.
   * @param names of `store/lock-changes.ts`
   * @param gone fires when the client went away: then its change waits no longer
   * @throws {Problem} 503 when too many wait for the same, or one of them for too long; and what `work` throws
   */
  run<T>(names: readonly string[], gone: AbortSignal, work: (db: pg.PoolClient) => Promise<T>): Promise<T>;
}

/** How long a change waits in all for another instance (milliseconds), and how often it asks. */
const MOST_WAIT_MS = 10_000;
const ASK_EVERY_MS = 40;

export function createSerialChanges({ pool, config }: Platform): SerialChanges {
  const { changesWaiting } = config.verwerkingenlog;
  const enter = createLocks({ holders: 1, maxWaiting: changesWaiting });
  // Half of the connections: appending and reading go on however many different things are changed.
  const connect = createLocks({
    holders: Math.max(1, Math.floor(config.database.poolSize / 2)),
    maxWaiting: Number.POSITIVE_INFINITY,
  });

  /** @returns undefined when another instance holds one of the locks */
  async function attempt<T>(
    names: readonly string[],
    gone: AbortSignal,
    work: (db: pg.PoolClient) => Promise<T>,
  ): Promise<{ readonly result: T } | undefined> {
    const leave = await connect('connections', gone);
    try {
      return await transaction(pool, async (db) =>
        (await tryLockChanges(db, names)) ? { result: await work(db) } : undefined,
      );
    } finally {
      leave();
    }
  }

  return {
    async run(names, gone, work) {
      const leaves: (() => void)[] = [];
      try {
        // In one order, so that no two wait for each other.
        for (const name of [...new Set(names)].sort()) leaves.push(await enter(name, gone));
        const until = performance.now() + MOST_WAIT_MS;
        while (!gone.aborted && performance.now() < until) {
          const done = await attempt(names, gone, work);
          if (done !== undefined) return done.result;
          await pause(ASK_EVERY_MS * (0.5 + Math.random()));
        }
        throw busy();
      } finally {
        for (const leave of leaves) leave();
      }
    },
  };
}

interface Lock {
  holders: number;
  readonly waiting: (() => void)[];
}

/** Locks by name, each for so many holders at a time, handed on in the order in which they were asked for. */
function createLocks(most: { readonly holders: number; readonly maxWaiting: number }) {
  const locks = new Map<string, Lock>();

  function wait({ waiting }: Lock, gone: AbortSignal): Promise<void> {
    if (gone.aborted || waiting.length >= most.maxWaiting) return Promise.reject(busy());
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
    const lock = locks.get(name) ?? { holders: 0, waiting: [] };
    locks.set(name, lock);
    if (lock.holders < most.holders) lock.holders += 1;
    else await wait(lock, gone);
    return () => {
      const next = lock.waiting.shift();
      if (next !== undefined) return next();
      lock.holders -= 1;
      if (lock.holders === 0) locks.delete(name);
    };
  };
}

function busy(): Problem {
  return new Problem(verwerkingenlogProblems.verwerkingBezet, { headers: { 'retry-after': '2' } });
}
