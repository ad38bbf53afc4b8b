import { setTimeout as pause } from 'node:timers/promises';
import type pg from 'pg';
import type { Db } from '../kernel/database/db.ts';
import type { Pool } from '../kernel/database/pool.ts';
import { transaction } from '../kernel/database/transaction.ts';
import type { OneAtATime } from '../kernel/one-at-a-time.ts';
import type { Platform } from '../kernel/platform.ts';
import { Problem } from '../kernel/problem.ts';
import { LARGE_OBJECTS, unknownActivityProblem } from './append.ts';
import { TooManyObjectsError, type Versie } from './domain/verwerkingsactie.ts';
import { verwerkingenlogProblems } from './problems.ts';
import type { LogOfActies } from './processing-log.ts';
import { lastObjectNumber, lockOfActie, lockOfVerwerking, replaceVersie, tryLockChanges } from './store/changes.ts';
import { protectInTurns, readCurrent, readStanding, revealInTurns } from './store/versions.ts';

interface ActieChange {
  readonly actieId: string;
  /** The processing that the action will belong to. */
  readonly verwerkingId: string | null;
  /** How many objects the action will have. */
  readonly objects: number;
  /** Who asks. */
  readonly client: string;
  /** Fires when the client went away. */
  readonly gone: AbortSignal;
  /**
   * Judges the current version and makes the next one; throws to change nothing.
   * @param lastNumber highest number that any version has given to an object
   */
  readonly change: (current: Versie, lastNumber: number) => Versie;
}

/** A change of the processing while its locks were taken is as rare as can be; each try locks what the last one saw. */
const TRIES = 5;

/**
 * Gives an action a new version. Changes of one action, or of its processing, happen one after another.
 * @returns undefined when the action is unknown or deleted
 * @throws {Problem} 400 for an unknown activity (when refused) or too many objects, 503 when too many wait, and what `change` throws
 */
export async function changeActie(
  { config }: Platform,
  log: LogOfActies,
  { actieId, verwerkingId, objects, client, gone, change }: ActieChange,
): Promise<Versie | undefined> {
  const options = { refuseUnknownActivity: config.verwerkingenlog.unknownActivity === 'refuse' };
  for (let tries = 0; tries < TRIES; tries += 1) {
    const seen = await log.changes.read({ client, gone }, (db) => readStanding(db, actieId));
    if (seen === undefined) return undefined;
    const names = [lockOfActie(actieId), ...lockOfVerwerking(seen.verwerkingId), ...lockOfVerwerking(verwerkingId)];
    const isLarge = Math.max(objects, seen.objects) > LARGE_OBJECTS;
    const outcome = await log.changes.run({ names, client, gone, isLarge }, async (db) => {
      const current = await readCurrent(db, actieId);
      if (current === undefined) return {};
      if (current.verwerkingId !== seen.verwerkingId) return { again: true };
      const lastNumber = await lastObjectNumber(db, actieId);
      const next = changed(change, await revealInTurns(current, log.keys), lastNumber);
      const appended = await replaceVersie(db, current, await protectInTurns(next, log.keys), options);
      if (!appended.kept) throw unknownActivityProblem();
      log.count(appended);
      return { next };
    });
    if (outcome.again !== true) return outcome.next;
  }
  throw new Problem(verwerkingenlogProblems.verwerkingBezet, { headers: { 'retry-after': '1' } });
}

function changed(change: ActieChange['change'], current: Versie, lastNumber: number): Versie {
  try {
    return change(current, lastNumber);
  } catch (error) {
    if (!(error instanceof TooManyObjectsError)) throw error;
    throw new Problem(verwerkingenlogProblems.teVeelObjecten, { invalidParams: [TOO_MANY], cause: error });
  }
}

const TOO_MANY = {
  name: 'verwerkteObjecten',
  code: 'maxItems',
  reason: 'mag over alle versies samen hoogstens 65 535 onderdelen hebben',
};

/**
 * Changes of one action or processing happen one after another. What has to wait waits here, without a connection of the database: else a
 * few clients that change the same processing would leave none for anybody.
 */

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
