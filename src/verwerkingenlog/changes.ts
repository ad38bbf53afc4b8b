/** Changes to the log. Those of one action or processing wait for each other in the process: waiting on connections, they would use up the pool. */
import { setTimeout as delay } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import type pg from 'pg';
import type { Pool } from '../database/pool.ts';
import { type Db, transaction } from '../database/transaction.ts';
import { Problem } from '../lib/problem.ts';
import { createKeyedSemaphore, createSemaphore, type OneAtATime, type Permit } from '../lib/scheduling.ts';
import type { ProofWriter } from '../proof/proof-log.ts';
import { reveal, toStoreWithinBudget } from './domain/encryption.ts';
import type { Actie, Versie } from './domain/verwerkingsactie.ts';
import { verwerkingenlogProblems } from './problems.ts';
import { lastObjectNumber, lockOfActie, lockOfVerwerking, replaceVersies, tryLockChanges } from './store/changes.ts';
import { readCurrent, readCurrentParts } from './store/versions.ts';

/** An action about more persons is stored or changed one at a time. */
export const LARGE_OBJECTS = 1000;

export interface Changer {
  readonly client: string;
  /** Fires when the client disconnects: its change stops waiting. */
  readonly signal: AbortSignal;
}

interface Change extends Changer {
  readonly names: readonly string[];
  readonly isLarge?: boolean;
}

/** An action rarely moves to another processing between the read and the locks; each attempt locks the result of the last read. */
const CHANGE_TRIES = 5;
/** How long a change waits in all for another instance or a connection, and how often it tries. */
const MAX_WAIT_MS = 10_000;
const RETRY_MS = 40;
/** How long a change waits for others in this process. */
const LOCK_WAIT_MS = 60_000;
const CLIENT_SHARE = 0.75;
const WAITING_PER_CONNECTION = 100;

/**
 * Gives an action a new version; without `becomes` one that ends it.
 * @param change judges the current version and makes the next one, or throws; `lastNumber` is the highest that any version has given to an object
 * @throws {Problem} 400 for an unknown or deleted action, 503 when too many wait; and errors of `change`
 */
export async function changeActie(
  actieLog: FastifyInstance['actieLog'],
  writer: ProofWriter | undefined,
  { actieId, becomes, ...changer }: Changer & { readonly actieId: string; readonly becomes?: Actie | undefined },
  change: (current: Versie, lastNumber: number) => Versie,
): Promise<Versie> {
  for (let tries = 0; tries < CHANGE_TRIES; tries += 1) {
    const [seen] = await actieLog.changes.read(changer, (db) => readCurrentParts(db, [actieId], { most: 0 }));
    if (seen === undefined) throw unknownVerwerkingsactie('actieId');
    const { verwerkingId } = seen.stored;
    const names = [
      lockOfActie(actieId),
      ...lockOfVerwerking(verwerkingId),
      ...lockOfVerwerking(becomes?.verwerkingId ?? null),
    ];
    const isLarge = Math.max(becomes?.verwerkteObjecten.length ?? 0, seen.objects) > LARGE_OBJECTS;
    const changed = await actieLog.changes.run({ names, isLarge, ...changer }, async (db) => {
      const current = await readCurrent(db, actieId);
      if (current === undefined) throw unknownVerwerkingsactie('actieId');
      if (current.verwerkingId !== verwerkingId) return undefined;
      const next = change(await reveal(current, actieLog.keys), await lastObjectNumber(db, actieId));
      const made = await toStoreWithinBudget(writer, next, actieLog.keys);
      return { next, appended: await replaceVersies(db, [current], [made], actieLog.store) };
    });
    if (changed === undefined) continue;
    changed.appended.forEach(actieLog.count);
    return changed.next;
  }
  throw busy();
}

/** There is nothing to change (the standard has 400 here, not 404). */
export function unknownVerwerkingsactie(name: 'actieId' | 'verwerkingId'): Problem {
  const reason = 'bestaat niet of is vervallen';
  return new Problem(verwerkingenlogProblems.onbekendeVerwerkingsactie, {
    detail: `${name}: ${reason}`,
    invalidParams: [{ name, code: 'onbekend', reason }],
  });
}

/** @param maxWaiting changes that may wait for one lock */
export function createSerialChanges(pool: Pool, maxWaiting: number, large: OneAtATime) {
  const acquireLock = createKeyedSemaphore({
    maxWeight: 1,
    maxWaiting,
    waitMs: LOCK_WAIT_MS,
    full: busy,
  });
  // Half, because readings use the same pool.
  const max = Math.max(2, Math.ceil(pool.options.max / 2));
  const connections = createSemaphore({
    maxWeight: max,
    clientShare: CLIENT_SHARE,
    maxWaiting: max * WAITING_PER_CONNECTION,
    waitMs: MAX_WAIT_MS,
    full: busy,
  });

  async function withinShare<T>(client: string, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    const permit = await connections.acquire({ weight: 1, client }, signal);
    try {
      return await work();
    } finally {
      permit.release();
    }
  }

  return {
    read<T>({ client, signal }: Changer, work: (db: Db) => Promise<T>): Promise<T> {
      return withinShare(client, signal, () => work(pool));
    },
    /**
     * Runs `work` in a transaction, during which no other change, on any instance, touches the named actions or processings.
     * @throws {Problem} 503 when too many wait for the same lock, or one waits too long; and errors of `work`
     */
    async run<T>(
      { names, client, signal, isLarge = false }: Change,
      work: (db: pg.PoolClient) => Promise<T>,
    ): Promise<T> {
      // Undefined: another instance holds one of the locks.
      const attempt = () =>
        transaction(pool, async (db) => ((await tryLockChanges(db, names)) ? { result: await work(db) } : undefined));
      const locks: Permit[] = [];
      try {
        // In one order, so that no two wait for each other.
        for (const name of [...new Set(names)].sort()) locks.push(await acquireLock(name, signal));
        const until = performance.now() + MAX_WAIT_MS;
        do {
          const done = await withinShare(client, signal, () => (isLarge ? large.run(client, attempt) : attempt()));
          if (done !== undefined) return done.result;
          await delay(RETRY_MS * (0.5 + Math.random()), undefined, { signal });
        } while (performance.now() < until);
        throw busy();
      } finally {
        for (const lock of locks) lock.release();
      }
    },
  };
}

function busy(): Problem {
  return new Problem(verwerkingenlogProblems.verwerkingBezet, { headers: { 'retry-after': '2' } });
}
