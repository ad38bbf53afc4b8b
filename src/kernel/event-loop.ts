import { setImmediate as nextTurn } from 'node:timers/promises';

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

/** As `items.map`, for so many that one turn of the event loop is too short for them. */
export async function mapWithinBudget<T, R>(items: readonly T[], make: (item: T) => R): Promise<R[]> {
  const made: R[] = [];
  for (const item of items) {
    if (eventLoopBudget.exhausted()) await eventLoopBudget.yield();
    made.push(make(item));
  }
  return made;
}
