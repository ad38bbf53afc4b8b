import { setImmediate as nextTurn } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';

/** Keeps large work from holding the event loop: all such work together may take this much of each turn. */
export interface EventLoopBudget {
  /** Whether large work has had its share of this turn: what is left belongs in the next. */
  exhausted(): boolean;
  /** Waits for the next turn when the budget of this one is exhausted. */
  yield(): Promise<void>;
  /** Calls `go` in the next turn. */
  defer(go: () => void): void;
}

interface EventLoopBudgetOptions {
  /** Milliseconds of a turn for all large works together. */
  readonly shareMs: number;
  /** Milliseconds of a clock that only goes forward. */
  readonly now?: () => number;
}

export function createEventLoopBudget({
  shareMs,
  now = () => performance.now(),
}: EventLoopBudgetOptions): EventLoopBudget {
  let began: number | undefined;
  const begin = (): number => {
    began = now();
    // The turn after this one begins with what waits for its immediates, so this comes before all that is put off until then.
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

/** A fifth of what the event loop may be held: small requests, and collecting what they leave behind, need the rest. */
export const eventLoopBudget: EventLoopBudget = createEventLoopBudget({ shareMs: 10 });

/**
 * Collects work of one kind that comes up during a turn of the event loop, and does it together at the end of that turn. Together it costs
 * much less than in between other work: the processor still has the code for it in its caches.
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

/** As `items.map`, for so many that one turn of the event loop is too short for them. */
export async function mapWithinBudget<T, R>(items: readonly T[], make: (item: T) => R): Promise<R[]> {
  const made: R[] = [];
  for (const item of items) {
    if (eventLoopBudget.exhausted()) await eventLoopBudget.yield();
    made.push(make(item));
  }
  return made;
}

/** Runs pieces of work one at a time; those of several clients take turns, so that one with many does not keep the others waiting. */
export interface OneAtATime {
  run<T>(client: string, work: () => Promise<T>): Promise<T>;
  /** Resolves when nothing runs or waits. */
  idle(): Promise<void>;
}

export function createOneAtATime(): OneAtATime {
  /** What waits of each client, the client whose turn is next first. */
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
 * Keeps the young generation of the heap small. Work that passes a million records through makes much garbage and keeps nothing: by
 * default the engine would let a hundred megabytes of it pile up, and gain no time by it. Call before the work begins.
 */
export function limitYoungGeneration(): void {
  setFlagsFromString('--semi-space-growth-factor=1');
  setFlagsFromString('--max-semi-space-size=8');
}
