/** Keeps large work from holding up small requests. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';

/** Limits how much of each turn of the event loop all large work together may take. */
export interface EventLoopBudget {
  /** Whether large work has used its share of this turn. */
  exhausted(): boolean;
  /** Waits for the next turn when the budget of this one is exhausted. */
  yield(): Promise<void>;
  /** Calls `go` in the next turn. */
  defer(go: () => void): void;
}

interface EventLoopBudgetOptions {
  /** Milliseconds of a turn for all large work together. */
  readonly shareMs: number;
  /** A monotonic clock, in milliseconds. */
  readonly now?: () => number;
}

export function createEventLoopBudget({
  shareMs,
  now = () => performance.now(),
}: EventLoopBudgetOptions): EventLoopBudget {
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
    yield: async () => {
      if (exhausted()) await nextTurn();
    },
    defer: (go) => void setImmediate(go),
  };
}

/** Small requests and garbage collection need the rest of a turn. */
export const eventLoopBudget: EventLoopBudget = createEventLoopBudget({ shareMs: 10 });

/**
 * Collects work of one kind during a turn of the event loop and runs it together at the end of the turn. That is much cheaper than running it
 * between other work, because its code is still in the processor's caches.
 * @returns adds work to the batch; the work must not throw
 */
export function createBatchPerTick(): (work: () => void) => void {
  let batch: (() => void)[] = [];
  const runBatch = (): void => {
    const works = batch;
    batch = [];
    for (const work of works) work();
  };
  return (work) => {
    if (batch.length === 0) setImmediate(runBatch);
    batch.push(work);
  };
}

/** As `items.map`, for more items than fit in a turn of the event loop. */
export async function mapWithinBudget<T, R>(items: readonly T[], make: (item: T) => R): Promise<R[]> {
  const made: R[] = [];
  for (const item of items) {
    if (eventLoopBudget.exhausted()) await eventLoopBudget.yield();
    made.push(make(item));
  }
  return made;
}

/** Runs work one item at a time, alternating between clients, so that one with much work does not hold up the others. */
export interface OneAtATime {
  run<T>(client: string, work: () => Promise<T>): Promise<T>;
  /** Resolves when nothing runs or waits. */
  idle(): Promise<void>;
}

export function createOneAtATime(): OneAtATime {
  /** The waiting work of each client; the client whose turn is next comes first. */
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
    async run(client, work) {
      if (isRunning) await wait(client);
      isRunning = true;
      try {
        return await work();
      } finally {
        startNext();
      }
    },
    idle: () => (isRunning ? new Promise((resolve) => onIdle.push(resolve)) : Promise.resolve()),
  };
}

/**
 * Keeps the young generation of the heap small. Streaming a million records makes much garbage and keeps nothing; by default V8 would let a
 * hundred megabytes of it pile up and gain no time. Call before the work begins.
 */
export function limitYoungGeneration(): void {
  setFlagsFromString('--semi-space-growth-factor=1');
  setFlagsFromString('--max-semi-space-size=8');
}
