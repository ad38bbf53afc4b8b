/** Keeps large work from holding up small requests and from taking all memory. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';

/** Limits the share of each turn of the event loop for all large work together. @param shareMs milliseconds of a turn */
export function createEventLoopBudget(shareMs: number, now = () => performance.now()) {
  let began: number | undefined;
  const begin = (): number => {
    began = now();
    // Immediates run in order, so this one runs before any work that is deferred to the next turn.
    setImmediate(() => {
      began = undefined;
    });
    return began;
  };
  const exhausted = (): boolean => now() - (began ?? begin()) >= shareMs;
  return {
    exhausted,
    async yield(): Promise<void> {
      if (exhausted()) await nextTurn();
    },
  };
}

/** The rest of a turn is for small requests and garbage collection. */
export const eventLoopBudget = createEventLoopBudget(10);

/** Like `items.map`, for more items than fit in a turn of the event loop. */
export async function mapWithinBudget<T, R>(items: Iterable<T>, make: (item: T) => R): Promise<R[]> {
  const made: R[] = [];
  for (const item of items) {
    if (eventLoopBudget.exhausted()) await eventLoopBudget.yield();
    made.push(make(item));
  }
  return made;
}

export type OneAtATime = ReturnType<typeof createOneAtATime>;

/** Runs work one item at a time, alternating between clients, so that one with much work does not hold up others. */
export function createOneAtATime() {
  /** The waiting work of each client, the client to be served next first. */
  const waiting = new Map<string, (() => void)[]>();
  const onIdle: (() => void)[] = [];
  let isRunning = false;

  function wait(client: string): Promise<void> {
    return new Promise((resolve) => {
      const own = waiting.get(client);
      if (own === undefined) waiting.set(client, [resolve]);
      else own.push(resolve);
    });
  }

  function startNext(): void {
    const first = waiting.entries().next().value;
    if (first === undefined) {
      isRunning = false;
      for (const resolve of onIdle.splice(0)) resolve();
      return;
    }
    const [client, own] = first;
    const start = own.shift();
    waiting.delete(client);
    if (own.length > 0) waiting.set(client, own);
    start?.();
  }

  return {
    async run<T>(client: string, work: () => Promise<T>): Promise<T> {
      if (isRunning) await wait(client);
      isRunning = true;
      try {
        return await work();
      } finally {
        startNext();
      }
    },
    async idle(): Promise<void> {
      if (isRunning) await new Promise<void>((resolve) => onIdle.push(resolve));
    },
  };
}

/** @throws {Error} with the code of an unreachable service when the work takes longer; the work itself continues */
export async function withTimeout<T>(ms: number, what: string, work: Promise<T>): Promise<T> {
  work.catch(() => undefined);
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    const error = Object.assign(new Error(`${what} did not answer within ${ms} ms`), { code: 'ETIMEDOUT' });
    timer = setTimeout(reject, ms, error);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** Callers that request work while it runs get the result of that run. @param work its runs are shared per first argument, if it has one */
export function shareRuns<Of extends readonly unknown[], T>(work: (...of: Of) => Promise<T>) {
  const runs = new Map<unknown, Promise<T>>();
  return {
    run(...of: Of): Promise<T> {
      const [key] = of;
      const run = runs.get(key) ?? work(...of).finally(() => runs.delete(key));
      runs.set(key, run);
      return run;
    },
    running: (...of: Of): Promise<T> | undefined => runs.get(of[0]),
  };
}

export interface Permit {
  resize(weight: number): void;
  release(): void;
}

interface Wanted {
  /** Bytes of memory, or 1 where requests or locks are counted. */
  readonly weight: number;
  readonly client?: string;
}

/**
 * A weighted semaphore with a share for each client and a deadline, over memory, or over requests or locks, which weigh 1. Waiting is in order of
 * arrival. A client that has used its share waits, but always gets one item, however heavy; one heavier than the whole is admitted alone.
 */
export interface Semaphore {
  /** @throws `full()` after `waitMs`; the signal's reason */
  acquire(wanted: Wanted, signal: AbortSignal): Promise<Permit>;
}

interface SemaphoreOptions {
  readonly maxWeight: number;
  readonly waitMs: number;
  /** Items up to this weight are not counted and never wait. Default 0. */
  readonly smallWeight?: number;
  /** The share of `maxWeight` that one client may hold, unless it is one item. Absent: clients are not distinguished. */
  readonly clientShare?: number;
  /** How many items may wait; more are refused at once. Default: no limit. */
  readonly maxWaiting?: number;
  readonly full: () => Error;
  readonly changed?: (state: { readonly weight: number; readonly waiting: number }) => void;
}

interface Waiter extends Wanted {
  readonly admit: () => void;
}

export function createSemaphore(options: SemaphoreOptions): Semaphore {
  const {
    maxWeight,
    waitMs,
    smallWeight = 0,
    clientShare,
    maxWaiting = Number.POSITIVE_INFINITY,
    full,
    changed,
  } = options;
  const queue = new Set<Waiter>();
  const usedBy = new Map<string, number>();
  let used = 0;

  const charge = (client: string, weight: number): void => {
    used += weight;
    const total = (usedBy.get(client) ?? 0) + weight;
    if (total > 0) usedBy.set(client, total);
    else usedBy.delete(client);
    changed?.({ weight: used, waiting: queue.size });
  };
  const fits = (weight: number): boolean => used === 0 || used + weight <= maxWeight;
  const hasShare = ({ weight, client = '' }: Wanted): boolean => {
    const own = usedBy.get(client) ?? 0;
    return clientShare === undefined || own === 0 || own + weight <= maxWeight * clientShare;
  };
  const admitWaiting = (): void => {
    for (const waiter of queue) {
      // A client without share left is skipped and blocks no other; one that lacks only room is not overtaken.
      if (!hasShare(waiter)) continue;
      if (!fits(waiter.weight)) break;
      queue.delete(waiter);
      waiter.admit();
    }
    changed?.({ weight: used, waiting: queue.size });
  };

  const grant = ({ weight, client = '' }: Wanted): Permit => {
    let held = weight > smallWeight ? weight : 0;
    let isReleased = false;
    charge(client, held);
    const resize = (actual: number): void => {
      if (isReleased) return;
      const before = held;
      held = actual > smallWeight ? actual : 0;
      charge(client, held - before);
      if (queue.size > 0) admitWaiting();
    };
    return {
      resize,
      release: () => {
        resize(0);
        isReleased = true;
      },
    };
  };

  return {
    async acquire(wanted, signal) {
      signal.throwIfAborted();
      if (wanted.weight <= smallWeight) return grant(wanted);
      if (queue.size === 0 && fits(wanted.weight) && hasShare(wanted)) return grant(wanted);
      if (queue.size >= maxWaiting) throw full();
      return await new Promise<Permit>((resolve, reject) => {
        const cleanUp = (): void => {
          clearTimeout(timer);
          signal.removeEventListener('abort', onAbort);
        };
        const waiter: Waiter = {
          ...wanted,
          admit: () => {
            cleanUp();
            resolve(grant(wanted));
          },
        };
        const giveUp = (reason: unknown): void => {
          cleanUp();
          queue.delete(waiter);
          // Later ones may weigh less.
          admitWaiting();
          reject(reason);
        };
        const onAbort = (): void => giveUp(signal.reason);
        const timer = setTimeout(() => giveUp(full()), waitMs);
        signal.addEventListener('abort', onAbort, { once: true });
        queue.add(waiter);
        admitWaiting();
      });
    },
  };
}

/** One semaphore per key, as long as it is held or waited for: all with the same limits, where each item weighs 1. */
export function createKeyedSemaphore(
  options: Pick<SemaphoreOptions, 'maxWeight' | 'maxWaiting' | 'waitMs' | 'full'>,
): (key: string, signal: AbortSignal) => Promise<Permit> {
  const semaphores = new Map<string, Semaphore>();
  const create = (key: string): Semaphore => {
    const semaphore = createSemaphore({
      ...options,
      changed: ({ weight, waiting }) =>
        void (weight + waiting > 0 ? semaphores.set(key, semaphore) : semaphores.delete(key)),
    });
    return semaphore;
  };
  return (key, signal) => (semaphores.get(key) ?? create(key)).acquire({ weight: 1 }, signal);
}

/** Streaming a million records keeps nothing, and by default V8 would let a hundred megabytes of garbage pile up. Call before the work begins. */
export function limitYoungGeneration(): void {
  setFlagsFromString('--semi-space-growth-factor=1');
  setFlagsFromString('--max-semi-space-size=8');
}
