/**
 * Appending first versions of actions. The first half seals and encrypts them, and answers replays of an idempotency key; the second half,
 * `createGroupCommit`, is the generic group commit that they are stored by, together with what arrives at the same time. Lines of LDV use it too.
 * @see docs/decisions/0017-appends-that-arrive-together-are-one-statement.md
 */
import { isDeepStrictEqual } from 'node:util';
import type { FastifyInstance } from 'fastify';
import { Histogram } from 'prom-client';
import { Problem } from '../lib/problem.ts';
import { eventLoopBudget, type OneAtATime } from '../lib/scheduling.ts';
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
/** Processed objects that go to the database together, unless one action has more. */
const GROUP_OBJECTS = 5000;
/** A used idempotency key can end its 24 hours before it is read; then it is free, and another log key may hash it by then. */
const REPLAY_TRIES = 4;
/** Objects that are encrypted before yielding to other work. */
const YIELD_OBJECTS = 500;

interface AppendOptions {
  readonly idempotencyKey?: string | undefined;
  readonly trace?: () => TraceContext;
}

interface AppendRequest {
  readonly actie: Actie;
  readonly auteur: Auteur;
  readonly idempotencyKey: string | undefined;
  /** The name of the log key that the idempotency key is hashed with. */
  readonly hashedWith: string;
  readonly trace: TraceContext | undefined;
  /** Set for a large action; all others are made ready with the group. */
  readonly ready?: ReadyVersion;
}

interface ReadyVersion {
  /** The first version in clear, for its caller and not for the store. */
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

  /** The stored form of an idempotency key: a keyed hash, because the key itself may reveal whom the action is about. */
  const hashedKey = ({ auteur, idempotencyKey: key }: AppendRequest, logKey: string): string | undefined =>
    key === undefined ? undefined : keys.hashIdempotency(logKey, `sleutel\n${callersKey(auteur, key)}`);

  const firstVersion = ({ actie, auteur }: AppendRequest, now: Date): Versie =>
    eersteVersie(actie, newActieId(now), now, auteur);

  const ready = (request: AppendRequest, clear: Versie, stored: SealedVersie): ReadyVersion => {
    const { hashedWith, trace } = request;
    return { clear, version: { ...stored, idempotencyKey: hashedKey(request, hashedWith), hashedWith, trace } };
  };

  /** Gives each action its identity, and encrypts its persons. */
  async function readyGroup(group: readonly AppendRequest[]): Promise<ReadyVersion[]> {
    const now = clock.now();
    const made: ReadyVersion[] = [];
    let objects = 0;
    for (const request of group) {
      objects += request.actie.verwerkteObjecten.length;
      // Asked only now and then, because asking schedules the end of the turn.
      if (objects > YIELD_OBJECTS) {
        objects = 0;
        await eventLoopBudget.yield();
      }
      made.push(request.ready ?? readySmall(request, now));
    }
    return made;
  }

  function readySmall(request: AppendRequest, now: Date): ReadyVersion {
    const clear = firstVersion(request, now);
    return ready(request, clear, toStore(writer, clear, keys));
  }

  async function readyLarge(request: AppendRequest): Promise<ReadyVersion> {
    const clear = firstVersion(request, clock.now());
    return ready(request, clear, await toStoreWithinBudget(writer, clear, keys));
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
    key: ({ auteur, idempotencyKey }) =>
      idempotencyKey === undefined ? undefined : callersKey(auteur, idempotencyKey),
    isFaultOfItem: isFaultOfValue,
    full: logFull,
    weight: weightOf,
    maxWeight: GROUP_OBJECTS,
    observe: (size) => groupSizes.observe(size),
  });

  function add(request: AppendRequest): ReturnType<typeof groups.add> {
    if (request.actie.verwerkteObjecten.length <= LARGE_OBJECTS) return groups.add(request);
    return large.run(request.auteur.door, async () => groups.add({ ...request, ready: await readyLarge(request) }));
  }

  /** The first version under the idempotency key of a request, hashed with one of these log keys. @throws {Problem} 409 for another action */
  async function replay(request: AppendRequest, logKeys: readonly string[]): Promise<Versie | undefined> {
    for (const logKey of logKeys) {
      const keyHash = hashedKey(request, logKey);
      const actieId = keyHash === undefined ? undefined : await readIdempotency(pool, keyHash);
      if (actieId === undefined) continue;
      const stored = await readVersie(pool, actieId, 1);
      if (stored === undefined)
        throw new Problem(verwerkingenlogProblems.sleutelGebruikt, {
          detail: 'De actie die onder deze sleutel is vastgelegd, is na haar bewaartermijn verwijderd.',
        });
      const versie = await reveal(stored, keys);
      if (!isDeepStrictEqual(actieIn(versie, request.actie), request.actie))
        throw new Problem(verwerkingenlogProblems.sleutelGebruikt);
      return versie;
    }
    return undefined;
  }

  return {
    /**
     * Resolves when the action is committed to disk, with its first version; with an idempotency key of the last 24 hours, with the
     * version that was stored under it.
     * @throws {Problem} 409, 503
     */
    async append(actie: Actie, auteur: Auteur, { idempotencyKey, trace }: AppendOptions = {}): Promise<Versie> {
      for (let tries = 0; tries < REPLAY_TRIES; tries += 1) {
        const { hashing: hashedWith } = keys;
        const request = {
          actie,
          auteur,
          idempotencyKey,
          hashedWith,
          trace: forwards ? trace?.() : undefined,
        };
        const others = keys.names.filter((name) => name !== hashedWith);
        const before = others.length === 0 ? undefined : await replay(request, others);
        if (before !== undefined) return before;
        const result = await add(request);
        count(result);
        if (result.kept) return result.clear;
        await keyWatch.requireAll(pool);
        await keyWatch.lockHashing(pool);
        const earlier = await replay(request, [hashedWith]);
        if (earlier !== undefined) return earlier;
      }
      throw logFull();
    },
    /** Resolves when no work is running. */
    async idle(): Promise<void> {
      await large.idle();
      await groups.idle();
    },
  };
}

/** An action weighs one, and one for each of its processed objects. */
function weightOf({ actie }: AppendRequest): number {
  return 1 + actie.verwerkteObjecten.length;
}

/** The action that a first version was made from, without the members that differ in every version. */
function actieIn(versie: Versie, { verwerkteObjecten: _, ...fields }: Actie): object {
  const members = Object.entries(versie).filter(([name]) => Object.hasOwn(fields, name));
  return { ...Object.fromEntries(members), verwerkteObjecten: versie.objecten.map(({ nummer, ...object }) => object) };
}

/** An idempotency key belongs to one caller. */
const callersKey = ({ door }: Auteur, key: string): string => `${door}\n${key}`;

// The group commit: it knows nothing of actions.

interface GroupCommitOptions<T, R> {
  /** Does the work of a group: all of it or none. Its results are in the order of the group. */
  readonly commit: (group: readonly T[]) => Promise<readonly R[]>;
  /** Maximum number of items in a group; 1: no grouping. */
  readonly size: number;
  /** The weight of an item; absent: 0. A group of several items weighs at most `maxWeight`. */
  readonly weight?: (item: T) => number;
  readonly maxWeight?: number;
  readonly inFlight: number;
  /** Maximum number of waiting items; the next is refused. */
  readonly maxWaiting: number;
  /** Milliseconds that an item may wait before it is refused. */
  readonly maxWaitMs: number;
  /** Items with the same key are never in one group. */
  readonly key?: (item: T) => string | undefined;
  /**
   * Whether one item caused the error: then the group is retried in halves, until only the faulty item fails. Any other error is that of
   * the whole group.
   */
  readonly isFaultOfItem: (error: unknown) => boolean;
  readonly full: () => Error;
  readonly observe?: (size: number) => void;
}

interface Waiting<T, R> {
  readonly item: T;
  readonly key: string | undefined;
  readonly resolve: (result: R) => void;
  readonly reject: (error: unknown) => void;
  /** When it was added. */
  readonly since: number;
}

/**
 * Work that arrives at the same time shares one transaction. The end of a group starts the next one before its items are answered: no timer is used,
 * a single item starts in the same turn of the event loop, and the next group is committed while the answers of this one are made.
 */
export function createGroupCommit<T, R>(options: GroupCommitOptions<T, R>) {
  const maxWeight = options.maxWeight ?? Number.POSITIVE_INFINITY;
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
      const own = options.weight?.(entry.item) ?? 0;
      if (group.length >= options.size || (group.length > 0 && weight + own > maxWeight)) break;
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

  /**
   * Never rejects: every item of the group gets a result or an error.
   * @param end called once, when the last part of the group was committed or failed
   */
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
      if (waiting.length >= options.maxWaiting) return Promise.reject(options.full());
      // In a microtask, so that all items of this turn are in the group: the others would wait for the commit of the first.
      if (waiting.length === 0) queueMicrotask(start);
      return new Promise((resolve, reject) => {
        waiting.push({ item, key: options.key?.(item), resolve, reject, since: performance.now() });
      });
    },
    /** Resolves when nothing is running or waiting. */
    idle: (): Promise<void> => (isIdle() ? Promise.resolve() : new Promise((resolve) => onIdle.push(resolve))),
  };
}
