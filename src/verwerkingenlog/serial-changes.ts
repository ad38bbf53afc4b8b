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

export function createSerialChanges({ shares, config }: Platform): SerialChanges {
  const { changesWaiting } = config.verwerkingenlog;
  const enter = createLocks(changesWaiting);

  /** @returns undefined when another instance holds one of the locks */
  const attempt = <T>(
    names: readonly string[],
    work: (db: pg.PoolClient) => Promise<T>,
  ): Promise<{ readonly result: T } | undefined> =>
    transaction(shares.verwerkingenlog, async (db) =>
      (await tryLockChanges(db, names)) ? { result: await work(db) } : undefined,
    );

  return {
    async run(names, gone, work) {
      const leaves: (() => void)[] = [];
      try {
        // In one order, so that no two wait for each other.
        for (const name of [...new Set(names)].sort()) leaves.push(await enter(name, gone));
        const until = performance.now() + MOST_WAIT_MS;
        while (!gone.aborted && performance.now() < until) {
          const done = await attempt(names, work);
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

/** Locks by name, handed on in the order in which they were asked for. */
function createLocks(maxWaiting: number) {
  /** Who waits for each lock that somebody holds. */
  const locks = new Map<string, (() => void)[]>();

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
    const held = locks.get(name);
    const waiting = held ?? [];
    if (held === undefined) locks.set(name, waiting);
    else await wait(held, gone);
    return () => {
      const next = waiting.shift();
      if (next === undefined) locks.delete(name);
      else next();
    };
  };
}

function busy(): Problem {
  return new Problem(verwerkingenlogProblems.verwerkingBezet, { headers: { 'retry-after': '2' } });
}
