/** Appends first versions of actions, in groups. @see docs/decisions/0017-appends-that-arrive-together-are-one-statement.md */
import { isDeepStrictEqual } from 'node:util';
import type { FastifyInstance } from 'fastify';
import { Counter, Histogram, type Registry } from 'prom-client';
import { Problem } from '../lib/problem.ts';
import { eventLoopBudget, type OneAtATime } from '../lib/scheduling.ts';
import { moment } from '../lib/time.ts';
import type { TraceContext } from '../lib/trace-context.ts';
import { LARGE_OBJECTS } from './changes.ts';
import { reveal, type SealedVersie, toStore, toStoreWithinBudget } from './domain/encryption.ts';
import { type Actie, type Auteur, eersteVersie, newActieId, type Versie } from './domain/verwerkingsactie.ts';
import { logFull, verwerkingenlogProblems } from './problems.ts';
import { type Appended, isFaultOfValue, type NewVersion } from './store/append.ts';
import { readIdempotency } from './store/idempotency.ts';
import { readVersie } from './store/versions.ts';

/** One at a time: what arrives during a commit forms the next group. A second one at once would be small, and cost a whole statement. */
const GROUPS_IN_FLIGHT = 1;
const MAX_WAITING = 20_000;
const GROUP_OBJECTS = 5000;
/** A used idempotency key can end its 24 hours before it is read; then it is free, and another log key may hash it by then. */
const REPLAY_TRIES = 4;
/** Objects that are encrypted before yielding to other work. */
const YIELD_OBJECTS = 500;

interface AppendRequest {
  readonly actie: Actie;
  readonly auteur: Auteur;
  /** Belongs to one caller. Only its keyed hash is stored, because the key itself may reveal whom the action is about. */
  readonly key: string | undefined;
  readonly hashedWith: string;
  readonly trace: TraceContext | undefined;
  /** Set for a large action; all others are encrypted with their group. */
  readonly ready?: ReadyVersion;
}

interface ReadyVersion {
  readonly clear: Versie;
  readonly version: NewVersion;
}

/**
 * The rule for an idempotency key, of which only a hash by a log key is stored:
 * 1. Look under the other log keys: before a rotation it may have been hashed with one of those, and nothing new is.
 * 2. Append. Unless the idempotency key was used, or a log key may be missing here, the version is kept.
 * 3. When it was not kept, make sure that no log key is missing, and look under the one that hashes now.
 * Begin again when it is not there either: its 24 hours have ended meanwhile, or another log key hashes by now.
 */
export function createAppender(
  { settings: config, database, clock, metrics, proof }: FastifyInstance,
  actieLog: Pick<FastifyInstance['actieLog'], 'keys' | 'keyWatch' | 'store' | 'count' | 'forwards'>,
  large: OneAtATime,
) {
  const pool = database.appendPool;
  const { keys, keyWatch, store, count, forwards } = actieLog;
  const { groupSize } = config.verwerkingenlog;
  const writer = proof('verwerkingen');
  const groupSizes = new Histogram({
    name: 'koppelvlak_verwerkingenlog_group_size',
    help: 'Appends that shared one transaction',
    buckets: [1, 2, 4, 8, 16, 32, 64, 128, 256, 1024],
    registers: [metrics],
  });

  const ready = ({ key, hashedWith, trace }: AppendRequest, clear: Versie, sealed: SealedVersie): ReadyVersion => {
    const idempotencyKey = key === undefined ? undefined : keys.hashIdempotency(hashedWith, key);
    return { clear, version: { ...sealed, idempotencyKey, hashedWith, trace } };
  };

  const firstVersion = ({ actie, auteur }: AppendRequest, now: Date, tijdstipRegistratie = moment(now)): Versie =>
    eersteVersie(actie, newActieId(now), tijdstipRegistratie, auteur);

  /** Encrypting with the group and not on arrival makes larger groups: an append takes a sixth less processor time. */
  async function readyGroup(group: readonly AppendRequest[]): Promise<ReadyVersion[]> {
    const now = clock.now();
    const tijdstipRegistratie = moment(now);
    const made: ReadyVersion[] = [];
    let objects = 0;
    for (const request of group) {
      objects += request.actie.verwerkteObjecten.length;
      // Asked only now and then, because asking schedules the end of the turn.
      if (objects > YIELD_OBJECTS) {
        objects = 0;
        await eventLoopBudget.yield();
      }
      if (request.ready === undefined) {
        const clear = firstVersion(request, now, tijdstipRegistratie);
        made.push(ready(request, clear, toStore(writer, clear, keys)));
      } else made.push(request.ready);
    }
    return made;
  }

  const groups = createGroupCommit<AppendRequest, Appended & Pick<ReadyVersion, 'clear'>>({
    commit: async (group) => {
      const made = await readyGroup(group);
      const versions = made.map(({ version }) => version);
      const results = await store.commit({ pool, clock }, versions, keys.names);
      return made.flatMap(({ clear }, i) => {
        const result = results[i];
        return result === undefined ? [] : [{ ...result, clear }];
      });
    },
    size: groupSize,
    inFlight: groupSize === 1 ? config.database.poolSize : GROUPS_IN_FLIGHT,
    maxWaiting: MAX_WAITING,
    // Behind groups that wait as long as a statement may, an append waits for two of them at most.
    maxWaitMs: config.database.statementTimeoutMs,
    key: ({ key }) => key,
    isFaultOfItem: isFaultOfValue,
    full: logFull,
    weight: ({ actie }) => 1 + actie.verwerkteObjecten.length,
    maxWeight: GROUP_OBJECTS,
    observe: (size) => groupSizes.observe(size),
  });

  function add(request: AppendRequest): ReturnType<typeof groups.add> {
    if (request.actie.verwerkteObjecten.length <= LARGE_OBJECTS) return groups.add(request);
    return large.run(request.auteur.door, async () => {
      if (groups.isFull()) throw logFull();
      const clear = firstVersion(request, clock.now());
      const sealed = await toStoreWithinBudget(writer, clear, keys);
      return groups.add({ ...request, ready: ready(request, clear, sealed) });
    });
  }

  /** The first version that was stored under an idempotency key, hashed with one of these log keys. @throws {Problem} 409 for another action */
  async function replay(key: string, logKeys: readonly string[], actie: Actie): Promise<Versie | undefined> {
    for (const logKey of logKeys) {
      const actieId = await readIdempotency(pool, keys.hashIdempotency(logKey, key));
      if (actieId === undefined) continue;
      const stored = await readVersie(pool, actieId, 1);
      if (stored === undefined)
        throw new Problem(verwerkingenlogProblems.sleutelGebruikt, {
          detail: 'De actie die onder deze sleutel is vastgelegd, is na haar bewaartermijn verwijderd.',
        });
      const versie = await reveal(stored, keys);
      const again = eersteVersie(actie, actieId, versie.tijdstipRegistratie, versie);
      if (!isDeepStrictEqual(versie, again)) throw new Problem(verwerkingenlogProblems.sleutelGebruikt);
      return versie;
    }
    return undefined;
  }

  return {
    /** The first version of the action, committed to disk; or what an idempotency key of the last 24 hours stored. @throws {Problem} 409, 503 */
    async append(
      actie: Actie,
      auteur: Auteur,
      { idempotencyKey, trace }: { idempotencyKey?: string | undefined; trace?: () => TraceContext } = {},
    ): Promise<Versie> {
      const key = idempotencyKey === undefined ? undefined : `sleutel\n${auteur.door}\n${idempotencyKey}`;
      for (let tries = 0; tries < REPLAY_TRIES; tries += 1) {
        const { hashing: hashedWith } = keys;
        if (key !== undefined && keys.names.length > 1) {
          const others = keys.names.filter((name) => name !== hashedWith);
          const before = await replay(key, others, actie);
          if (before !== undefined) return before;
        }
        const result = await add({ actie, auteur, key, hashedWith, trace: forwards ? trace?.() : undefined });
        count(result);
        if (result.kept) return result.clear;
        await keyWatch.requireAll(pool);
        await keyWatch.lockHashing(pool);
        const earlier = key === undefined ? undefined : await replay(key, [hashedWith], actie);
        if (earlier !== undefined) return earlier;
      }
      throw logFull();
    },
    async idle(): Promise<void> {
      await large.idle();
      await groups.idle();
    },
  };
}

export function createAppendCounters(metrics: Registry): (result: Appended) => void {
  const appends = new Counter({
    name: 'koppelvlak_verwerkingenlog_appends_total',
    help: 'Versions that were added to the log',
    registers: [metrics],
  });
  const unknown = new Counter({
    name: 'koppelvlak_verwerkingenlog_unknown_activity_total',
    help: 'Actions that name a processing activity that is not in the register',
    registers: [metrics],
  });
  return ({ kept, unknownActivity }) => {
    if (kept) appends.inc();
    if (unknownActivity) unknown.inc();
  };
}

// The group commit: it knows nothing of actions, and stores lines of LDV too.

interface GroupCommitOptions<T, R> {
  /** Does the work of a group: all of it or none. Its results are in the order of the group. */
  readonly commit: (group: readonly T[]) => Promise<readonly R[]>;
  readonly size: number;
  /** Several items together weigh at most `maxWeight`. */
  readonly weight: (item: T) => number;
  readonly maxWeight: number;
  readonly inFlight: number;
  readonly maxWaiting: number;
  /** An item that has waited longer is refused (milliseconds). */
  readonly maxWaitMs: number;
  /** Items with the same key are never in one group. */
  readonly key?: (item: T) => string | undefined;
  /** Whether one item caused the error: then the group is retried in halves, until only that one fails. Any other fails the whole group. */
  readonly isFaultOfItem: (error: unknown) => boolean;
  readonly full: () => Error;
  readonly observe?: (size: number) => void;
}

interface Waiting<T, R> {
  readonly item: T;
  readonly key: string | undefined;
  readonly resolve: (result: R) => void;
  readonly reject: (error: unknown) => void;
  readonly since: number;
}

/**
 * Work that arrives at the same time shares one transaction. The end of a group starts the next one, without a timer, before its items are answered:
 * the next group is committed while the answers of this one are made. A single item starts in the same turn of the event loop.
 */
export function createGroupCommit<T, R>(options: GroupCommitOptions<T, R>) {
  let waiting: Waiting<T, R>[] = [];
  let running = 0;
  const onIdle: (() => void)[] = [];

  function start(): void {
    while (running < options.inFlight && waiting.length > 0) {
      const group = take();
      if (group.length === 0) break;
      running += 1;
      options.observe?.(group.length);
      const end = (): void => {
        running -= 1;
        start();
      };
      void run(group, end).then(tellIdle);
    }
  }

  const isFull = (): boolean => waiting.length >= options.maxWaiting;
  const isIdle = (): boolean => running === 0 && waiting.length === 0;
  function tellIdle(): void {
    if (onIdle.length > 0 && isIdle()) for (const resolve of onIdle.splice(0)) resolve();
  }

  function take(): Waiting<T, R>[] {
    const group: Waiting<T, R>[] = [];
    const passedOver: Waiting<T, R>[] = [];
    const keys = new Set<string>();
    const latest = performance.now() - options.maxWaitMs;
    let seen = 0;
    let weight = 0;
    for (const entry of waiting) {
      const own = options.weight(entry.item);
      if (group.length >= options.size || (group.length > 0 && weight + own > options.maxWeight)) break;
      seen += 1;
      const { key } = entry;
      if (entry.since < latest) entry.reject(options.full());
      else if (key !== undefined && keys.has(key)) passedOver.push(entry);
      else {
        group.push(entry);
        weight += own;
        if (key !== undefined) keys.add(key);
      }
    }
    waiting = [...passedOver, ...waiting.slice(seen)];
    return group;
  }

  /** Never rejects. @param end called once, when the last part of the group was committed or failed */
  async function run(group: readonly Waiting<T, R>[], end: () => void): Promise<void> {
    try {
      const results = await options.commit(group.map(({ item }) => item));
      end();
      for (const [i, { resolve, reject }] of group.entries()) {
        const result = results[i];
        if (result === undefined) reject(new TypeError('a group has fewer results than items'));
        else resolve(result);
      }
    } catch (error) {
      if (group.length > 1 && options.isFaultOfItem(error)) {
        const half = Math.ceil(group.length / 2);
        await run(group.slice(0, half), () => undefined);
        await run(group.slice(half), end);
      } else {
        end();
        for (const { reject } of group) reject(error);
      }
    }
  }

  return {
    /** The item's own result, after its group was committed. @throws the error of the item or its group */
    add(item: T): Promise<R> {
      if (isFull()) return Promise.reject(options.full());
      // In a microtask, so that all items of this turn are in the group: the others would wait for the commit of the first.
      if (waiting.length === 0) queueMicrotask(start);
      return new Promise((resolve, reject) => {
        waiting.push({ item, key: options.key?.(item), resolve, reject, since: performance.now() });
      });
    },
    isFull,
    idle: (): Promise<void> => (isIdle() ? Promise.resolve() : new Promise((resolve) => onIdle.push(resolve))),
  };
}
