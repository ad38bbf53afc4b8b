/** Work that shares a transaction with what arrives at the same time. */

interface GroupCommitOptions<T, R> {
  /** Does the work of a group: all of it or none. Its results are in the order of the group. */
  readonly commit: (group: readonly T[]) => Promise<readonly R[]>;
  /** Maximum number of items in a group; 1: one by one. */
  readonly size: number;
  /** The weight of an item; absent: 0. A group of several items weighs at most `maxWeight`. */
  readonly weight?: (item: T) => number;
  readonly maxWeight?: number;
  /** Groups that may be under way at the same time. */
  readonly inFlight: number;
  /** Items that may wait; the next is refused. */
  readonly maxWaiting: number;
  /** Milliseconds that an item waits for its turn; then it is refused. */
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

interface GroupCommit<T, R> {
  /** The item's own result, after its group was committed. @throws what the item or its group failed with */
  add(item: T): Promise<R>;
  /** Resolves when nothing is under way or waiting. */
  idle(): Promise<void>;
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
 * Work that arrives at the same time shares one transaction. The end of a group starts the next one, before its items are answered: nothing
 * waits for a timer, a single item starts in the turn of the event loop in which it arrived, and the next group is committed while the
 * answers of this one are made.
 */
export function createGroupCommit<T, R>(options: GroupCommitOptions<T, R>): GroupCommit<T, R> {
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
    add(item) {
      if (waiting.length >= options.maxWaiting) return Promise.reject(options.full());
      // In a microtask, so that all items of this turn are in the group: the others would wait for the commit of the first.
      if (waiting.length === 0) queueMicrotask(start);
      return new Promise((resolve, reject) => {
        waiting.push({ item, key: options.key?.(item), resolve, reject, since: performance.now() });
      });
    },
    idle: () => (isIdle() ? Promise.resolve() : new Promise((resolve) => onIdle.push(resolve))),
  };
}
