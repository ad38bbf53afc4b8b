import process from 'node:process';
import { type EventLoopBudget, eventLoopBudget as sharedBudget } from '../kernel/event-loop.ts';

/** An item, and what is made of it: once, when that is asked for or before that when there was time. */
export interface Ahead<T, M> {
  readonly item: T;
  /** Has it made before it is asked for. */
  makeSoon(): void;
  /** @throws what the making threw */
  made(): M;
}

/**
 * What comes together and is wanted soon is made when the last of it has come, one right after another: the processor then has the code
 * at hand, so that it costs less. Who asks later, when the database is free, does not wait for it any more.
 * @param budget what it takes of the event loop is measured there, with other large work
 */
export function createAhead<T, M>(
  make: (item: T) => M,
  budget: Pick<EventLoopBudget, 'exhausted' | 'defer'> = sharedBudget,
): (item: T) => Ahead<T, M> {
  let waiting: Once<T, M>[] = [];
  const makeWaiting = (): void => {
    const making = waiting;
    waiting = [];
    for (const [i, one] of making.entries()) {
      if (budget.exhausted()) {
        waiting = making.slice(i);
        budget.defer(makeWaiting);
        return;
      }
      one.settle();
    }
  };
  const queue = (one: Once<T, M>): void => {
    if (waiting.length === 0) process.nextTick(makeWaiting);
    waiting.push(one);
  };
  return (item) => new Once(item, make, queue);
}

type Outcome<M> = { readonly made: M } | { readonly error: unknown };

class Once<T, M> implements Ahead<T, M> {
  readonly item: T;
  readonly #make: (item: T) => M;
  readonly #queue: (one: Once<T, M>) => void;
  #outcome: Outcome<M> | undefined;

  constructor(item: T, make: (item: T) => M, queue: (one: Once<T, M>) => void) {
    this.item = item;
    this.#make = make;
    this.#queue = queue;
  }

  makeSoon(): void {
    this.#queue(this);
  }

  settle(): Outcome<M> {
    this.#outcome ??= this.#attempt();
    return this.#outcome;
  }

  made(): M {
    const outcome = this.settle();
    if ('error' in outcome) throw outcome.error;
    return outcome.made;
  }

  #attempt(): Outcome<M> {
    try {
      return { made: this.#make(this.item) };
    } catch (error) {
      return { error };
    }
  }
}
