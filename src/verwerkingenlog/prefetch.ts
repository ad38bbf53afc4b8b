import process from 'node:process';
import { type EventLoopBudget, eventLoopBudget as sharedBudget } from '../kernel/event-loop.ts';

/** An item, and the value that is computed from it: once, when it is needed or earlier. */
export interface Lazy<T, V> {
  readonly item: T;
  /** Has the value computed before it is needed. */
  prefetch(): void;
  /** @throws what the computation threw */
  value(): V;
}

/**
 * Values of items that arrive together are computed together, when the last has arrived: the code then stays in the caches of the processor.
 * Later, when the database is free, nothing waits for them any more.
 * @param budget of the event loop, shared with other large work
 */
export function createLazy<T, V>(
  compute: (item: T) => V,
  budget: Pick<EventLoopBudget, 'exhausted' | 'defer'> = sharedBudget,
): (item: T) => Lazy<T, V> {
  let waiting: LazyValue<T, V>[] = [];
  const computeWaiting = (): void => {
    const computing = waiting;
    waiting = [];
    for (const [i, one] of computing.entries()) {
      if (budget.exhausted()) {
        waiting = computing.slice(i);
        budget.defer(computeWaiting);
        return;
      }
      one.settle();
    }
  };
  const queue = (one: LazyValue<T, V>): void => {
    if (waiting.length === 0) process.nextTick(computeWaiting);
    waiting.push(one);
  };
  return (item) => new LazyValue(item, compute, queue);
}

type Outcome<V> = { readonly value: V } | { readonly error: unknown };

class LazyValue<T, V> implements Lazy<T, V> {
  readonly item: T;
  readonly #compute: (item: T) => V;
  readonly #queue: (one: LazyValue<T, V>) => void;
  #outcome: Outcome<V> | undefined;

  constructor(item: T, compute: (item: T) => V, queue: (one: LazyValue<T, V>) => void) {
    this.item = item;
    this.#compute = compute;
    this.#queue = queue;
  }

  prefetch(): void {
    this.#queue(this);
  }

  settle(): Outcome<V> {
    this.#outcome ??= this.#attempt();
    return this.#outcome;
  }

  value(): V {
    const outcome = this.settle();
    if ('error' in outcome) throw outcome.error;
    return outcome.value;
  }

  #attempt(): Outcome<V> {
    try {
      return { value: this.#compute(this.item) };
    } catch (error) {
      return { error };
    }
  }
}
